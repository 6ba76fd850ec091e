import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'

interface PlotProps {
  /** What is plotted, in words: a reader who sees no plot hears it, with the last value. */
  readonly label: string
  /** Heights, ascending. */
  readonly x: readonly number[]
  readonly y: readonly number[]
  /** `steps`: each value stays until the next one. */
  readonly kind?: 'line' | 'bars' | 'steps'
  /** A value of y with its unit, as the axis and the legend write it. */
  readonly print: (value: number) => string
  readonly height?: number
}

/** A colour of style/tokens.css as a canvas takes it. */
function colour(name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** The width of the axis of values, whose labels may be long, in px: a digit is about 7 wide. */
const roomOf = (_: uPlot, labels: string[] | null): number =>
  Math.max(64, 16 + 7 * Math.max(0, ...(labels ?? []).map(({ length }) => length)))

/** The range of x for bars: half a step more at each end, so that the first and the last bar are whole. */
function roomOfBars({ data: [x] }: uPlot, low: number, high: number): uPlot.Range.MinMax {
  const half = ((x[1] ?? low + 1) - (x[0] ?? low)) / 2
  return [low - half, high + half]
}

function optionsOf(library: typeof uPlot, width: number, { kind, print, height }: PlotProps) {
  const [accent, ink, rule] = [colour('--accent'), colour('--ink-soft'), colour('--rule')]
  const axis = { stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { show: false }, font: '12px system-ui' }
  return {
    width,
    height: height ?? 160,
    padding: [8, 18, 0, 0] as uPlot.Padding,
    cursor: { y: false, drag: { x: false, y: false } },
    legend: { show: false },
    scales: {
      x: { time: false, ...(kind === 'bars' ? { range: roomOfBars } : {}) },
      y: {
        range: (_: uPlot, low: number, high: number): uPlot.Range.MinMax => [
          Math.min(0, low),
          high === 0 ? 1 : high * 1.1,
        ],
      },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        values: (_: uPlot, all: number[]) => all.map((one) => (Number.isInteger(one) ? one.toLocaleString('en') : '')),
      },
      { ...axis, size: roomOf, space: 40, values: (_: uPlot, all: number[]) => all.map(print) },
    ],
    series: [
      {},
      {
        stroke: accent,
        width: 1.5,
        points: { show: false },
        ...(kind === 'bars'
          ? { fill: accent, width: 0, paths: library.paths.bars?.({ size: [0.7, 24] }) as uPlot.Series.PathBuilder }
          : { fill: colour('--accent-faint') }),
        ...(kind === 'steps' ? { paths: library.paths.stepped?.({ align: 1 }) as uPlot.Series.PathBuilder } : {}),
      },
    ],
  } satisfies uPlot.Options
}

/** A plot of one series. The library is loaded with the first one. */
export function Plot(props: PlotProps) {
  const { label, x, y, print } = props
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  // What is drawn once the library is there, or in other colours, is what the plot shows by then.
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    const end = new AbortController()
    const { signal } = end
    void import('uplot').then(({ default: library }) => {
      const into = place.current
      if (signal.aborted || into === null) return
      const draw = (): void => {
        plot.current?.destroy()
        const { x: along, y: values } = latest.current
        plot.current = new library(
          optionsOf(library, into.clientWidth, latest.current),
          [[...along], [...values]],
          into,
        )
      }
      draw()
      const observer = new ResizeObserver(() => {
        if (plot.current !== undefined) plot.current.setSize({ width: into.clientWidth, height: plot.current.height })
      })
      observer.observe(into)
      addEventListener('themechange', draw, { signal })
      matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw, { signal })
      signal.addEventListener('abort', () => observer.disconnect())
    })
    return () => {
      end.abort()
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [])
  useEffect(() => plot.current?.setData([[...x], [...y]]), [x, y])
  const last = y.at(-1)
  return (
    <figure class='plot'>
      <figcaption>
        <span>{label}</span>
        <span class='number'>{last === undefined ? '–' : print(last)}</span>
      </figcaption>
      <div ref={place} aria-hidden='true' />
    </figure>
  )
}
