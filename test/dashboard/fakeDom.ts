/** A document with as much of the DOM as Preact needs to draw components without a browser. */
import './browser.ts'
import { type ComponentChild, render } from 'preact'

class FakeNode {
  readonly childNodes: FakeNode[] = []
  readonly attributes: unknown[] = []
  readonly style = {}
  parentNode: FakeNode | null = null
  data: string
  label = ''
  readonly localName: string | undefined
  readonly nodeType: number
  constructor(localName: string | undefined, data = '') {
    this.localName = localName
    this.nodeType = localName === undefined ? 3 : 1
    this.data = data
  }
  get firstChild(): FakeNode | null {
    return this.childNodes[0] ?? null
  }
  get nextSibling(): FakeNode | null {
    const all = this.parentNode?.childNodes ?? []
    return all[all.indexOf(this) + 1] ?? null
  }
  get textContent(): string {
    return this.data + this.childNodes.map((one) => one.textContent).join('')
  }
  insertBefore(node: FakeNode, before: FakeNode | null): void {
    node.remove()
    const at = before === null ? this.childNodes.length : this.childNodes.indexOf(before)
    this.childNodes.splice(at, 0, node)
    node.parentNode = this
  }
  remove(): void {
    const all = this.parentNode?.childNodes ?? []
    all.splice(all.indexOf(this), 1)
    this.parentNode = null
  }
  setAttribute(name: string, value: string): void {
    if (name === 'aria-label') this.label = value
  }
  /** Every aria-label in it. */
  get labels(): readonly string[] {
    return [this.label, ...this.childNodes.flatMap((one) => one.labels)].filter(Boolean)
  }
  removeAttribute(): void {}
  addEventListener(): void {}
  focus(): void {}
  showModal(): void {}
  close(): void {}
}

Object.assign(document, {
  documentElement: { dataset: {} },
  querySelector: () => null,
  createElementNS: (_: string, name: string) => new FakeNode(name),
  createTextNode: (text: string) => new FakeNode(undefined, text),
})
Object.assign(globalThis, {
  HTMLElement: FakeNode,
  matchMedia: () => Object.assign(new EventTarget(), { matches: false }),
  scrollTo: () => {},
})

/** Draws components, and gives the text that a reader sees at any time until `end` is called. `draw`: draws others then. */
export function drawn(what: ComponentChild) {
  const place = new FakeNode('body')
  const draw = (one: ComponentChild): void => render(one, place as unknown as Element)
  draw(what)
  return { text: () => place.textContent, labels: () => place.labels, draw, end: () => draw(null) }
}

/** The text of components as they are drawn first. */
export function textOf(what: ComponentChild): string {
  const { text, end } = drawn(what)
  const first = text()
  end()
  return first
}
