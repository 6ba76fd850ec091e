/**
 * Records README's tour on a devnet of its own and writes docs/assets/tour.svg: `node tools/record-tour.ts`. Commands,
 * output and pauses are those of the run; pauses longer than PAUSE_MS_MAX are cut short, and lines longer than
 * COLUMNS_MAX are cut off. Where a reader's page does not animate, the picture shows the end of the tour.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endLeftovers, makePlace, startDevnet } from '../test/e2e/support/devnet.ts'
import { runTour, type TourStep } from '../test/e2e/support/tour.ts'
import { tempFolder } from '../test/support/tempFolder.ts'

const COLUMNS_MAX = 140
const PAUSE_MS_MAX = 1_500
const TYPING_MS = 400
const LINE_PX = 17
const CHARACTER_PX = 7.25
const MARGIN_PX = 16

/** What the picture shows: without the helpers before it and the clean-up after it. */
const SHOWN = /^(?:svcd (?!keys delete)|[A-Z]+=)/

interface Line {
  readonly text: string
  readonly kind: 'command' | 'output'
  readonly atMs: number
}

function linesOf(steps: readonly TourStep[]): readonly Line[] {
  let atMs = 0
  return steps
    .filter(({ command }) => SHOWN.test(command))
    .flatMap(({ command, output, startedMs, endedMs }) => {
      const shown = { text: `$ ${command}`, kind: 'command', atMs: (atMs += TYPING_MS) } as const
      atMs += Math.min(PAUSE_MS_MAX, endedMs - startedMs)
      const printed = output.split('\n').filter((line) => line !== '')
      return [shown, ...printed.map((text) => ({ text, kind: 'output', atMs }) as const)]
    })
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const cut = (text: string): string => (text.length <= COLUMNS_MAX ? text : `${text.slice(0, COLUMNS_MAX - 1)}…`)

function svgOf(lines: readonly Line[]): string {
  const columns = Math.max(...lines.map(({ text }) => cut(text).length))
  const [width, height] = [Math.ceil(columns * CHARACTER_PX + 2 * MARGIN_PX), lines.length * LINE_PX + 2 * MARGIN_PX]
  const rows = lines.map(({ text, kind, atMs }, index) => {
    const y = MARGIN_PX + (index + 0.8) * LINE_PX
    const style = `animation-delay:${atMs / 1000}s`
    return `<text xml:space="preserve" class="${kind}" y="${y}" style="${style}">${escapeXml(cut(text))}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>README's tour on a devnet</title>
<style>
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #c9d1d9 }
.command { fill: #7ee787 }
@media (prefers-reduced-motion: no-preference) { text { animation: show 0.01s both } }
@keyframes show { from { opacity: 0 } to { opacity: 1 } }
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g transform="translate(${MARGIN_PX} 0)">
${rows.join('\n')}
</g>
</svg>
`
}

const { path: folder, remove } = tempFolder('tour')
try {
  const place = await makePlace(join(folder, '.svcd'), '1s')
  const [gateway = '', rpc = ''] = place.ports.map((port) => `127.0.0.1:${port}`)
  const env = {
    ...process.env,
    HOME: folder,
    SVCD_HOME: place.home,
    SVCD_GATEWAY: gateway,
    SVCD_NODE: `http://${rpc}`,
  }
  const net = await startDevnet(place, [], env)
  const steps = await runTour(gateway, env)
  await net.stop()
  // The picture shows the addresses of the page, not of this run.
  const paged = steps.map((step) => ({
    ...step,
    output: step.output.replaceAll(folder, '~').replaceAll(rpc, '127.0.0.1:26657'),
  }))
  writeFileSync(new URL('../docs/assets/tour.svg', import.meta.url), svgOf(linesOf(paged)))
} finally {
  endLeftovers()
  remove()
}
