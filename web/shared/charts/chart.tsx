import { useId } from 'react'
import { type Measure, topOf } from './chart-scale.ts'

export interface Series {
  readonly name: string
  readonly values: readonly number[]
}

interface ChartProps {
  readonly title: string
  readonly labels: readonly string[]
  readonly labelsAre: string
  readonly series: readonly Series[]
  readonly measure: Measure
  readonly format: (value: number) => string
  readonly asTable: string
}

/** Stacked bars over time, and a table for screen readers and exact numbers. */
export function Chart(props: ChartProps) {
  const { title, labels, series, measure, format, asTable } = props
  const heading = useId()
  const top = topOf(
    labels.map((_, index) => sumAt(series, index)),
    measure,
  )
  return (
    <figure aria-labelledby={heading} className="chart">
      <figcaption id={heading}>{title}</figcaption>
      {series.length > 1 ? <Legend series={series} /> : null}
      <div className="chart-plot">
        <div aria-hidden="true" className="chart-axis small quiet">
          <span>{format(top)}</span>
          <span>{format(top / 2)}</span>
          <span>{format(0)}</span>
        </div>
        <svg aria-hidden="true" className="chart-bars">
          <Lines />
          {labels.map((label, index) => (
            <Bar index={index} key={label} {...props} top={top} />
          ))}
        </svg>
        <div
          aria-hidden="true"
          className="chart-foot small quiet"
          style={{ width: `${roomOf(labels) * labels.length}%` }}
        >
          <span>{labels.at(0)}</span>
          <span>{labels.length > 1 ? labels.at(-1) : null}</span>
        </div>
      </div>
      <details className="chart-table">
        <summary>{asTable}</summary>
        <Table {...props} titled={heading} />
      </details>
    </figure>
  )
}

function Legend({ series }: Pick<ChartProps, 'series'>) {
  return (
    <ul aria-hidden="true" className="legend small">
      {series.map(({ name }, index) => (
        <li data-part={index} key={name}>
          {name}
        </li>
      ))}
    </ul>
  )
}

function Lines() {
  return ['0%', '50%', '100%'].map((y) => (
    <line className="chart-line" key={y} x1="0%" x2="100%" y1={y} y2={y} />
  ))
}

/** Relative to the slot. */
const WIDTH = 0.7
const FEWEST = 14

/** In percent of the chart. */
function roomOf(labels: readonly string[]): number {
  return 100 / Math.max(FEWEST, labels.length)
}

function Bar({ labels, series, format, index, top }: ChartProps & { index: number; top: number }) {
  const room = roomOf(labels)
  const said = series.map(({ name, values }) => `${format(values[index] ?? 0)} ${name}`).join(', ')
  return (
    <g>
      {series.map(({ name, values }, part) => {
        const height = (100 * (values[index] ?? 0)) / top
        const below = (100 * sumAt(series.slice(0, part), index)) / top
        return (
          <rect
            data-part={part}
            height={`${height}%`}
            key={name}
            rx="2"
            width={`${room * WIDTH}%`}
            x={`${room * (index + (1 - WIDTH) / 2)}%`}
            y={`${100 - below - height}%`}
          />
        )
      })}
      <rect className="chart-point" height="100%" width={`${room}%`} x={`${room * index}%`} y="0%">
        <title>{`${labels[index]}: ${said}`}</title>
      </rect>
    </g>
  )
}

function Table({ labels, labelsAre, series, format, titled }: ChartProps & { titled: string }) {
  return (
    <table aria-labelledby={titled}>
      <thead>
        <tr>
          <th scope="col">{labelsAre}</th>
          {series.map(({ name }) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {labels.map((label, index) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            {series.map(({ name, values }) => (
              <td key={name}>{format(values[index] ?? 0)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function sumAt(series: readonly Series[], index: number): number {
  return series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0)
}
