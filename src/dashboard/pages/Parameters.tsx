import type { ViewProps } from '../app.tsx'
import { svc } from '../data/gateway.ts'
import { type GivenValue, parameterOf, type Params, parameters, rangeOf, useParamsHistory } from '../data/parameters.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { csvText, download } from '../parts/csv.ts'
import { View } from '../parts/layout.tsx'
import { Pending, Shown } from '../parts/notes.tsx'
import { ParamValue } from '../parts/ParamValue.tsx'
import { HeightLink } from '../parts/text.tsx'
import { linkTo } from '../route.ts'
import { NotFound } from './NotFound.tsx'
import { ParameterHistory } from './parameters/History.tsx'

/** The height from which the value in force in block `height` is in force. */
const sinceOf = (history: readonly GivenValue[], name: string, height: number): number | undefined =>
  history.find((one) => one.name === name && one.height_in_force <= height)?.height_in_force

function save(params: Params, history: readonly GivenValue[], height: number): void {
  const rows = parameters.map((one) => [
    one.name,
    params[one.name] ?? '',
    one.unit,
    rangeOf(one),
    sinceOf(history, one.name, height) ?? '',
    one.doc,
  ])
  download('parameters.csv', csvText(['Name', 'Value', 'Unit', 'Range', 'In force since block', 'Meaning'], rows))
}

function ParameterList() {
  const answer = useAnswer('params', () => svc.async.governance.getParams())
  const history = useParamsHistory().data?.data ?? []
  return (
    <View title='Parameters'>
      <Shown answer={answer} lines={11}>
        {({ height, data }) => (
          <div>
            <ul class='parameters' aria-label='Parameters'>
              {parameters.map((one) => {
                const { name, doc } = one
                const since = sinceOf(history, name, height)
                return (
                  <li key={name}>
                    <div class='what'>
                      <a class='name' href={linkTo(['parameters', name])}>
                        {name}
                      </a>
                      <small class='soft'>{doc}</small>
                    </div>
                    <div class='is'>
                      <span class='value'>
                        <ParamValue name={name} value={(data as Params)[name] ?? ''} />
                      </span>
                      <small class='soft'>{rangeOf(one)}</small>
                    </div>
                    <small class='soft'>
                      {since === undefined ? (
                        <Pending />
                      ) : since === 0 ? (
                        'since genesis'
                      ) : (
                        <>
                          since block <HeightLink height={since} />
                        </>
                      )}
                    </small>
                    <div class='do'>
                      <a href={linkTo(['proposals', 'new', 'change_param'], { name })} aria-label={`Change ${name}`}>
                        Change
                      </a>
                    </div>
                  </li>
                )
              })}
            </ul>
            <footer class='list-foot'>
              <span>As they were in force in block {height.toLocaleString('en')}</span>
              <button type='button' class='quiet' onClick={() => save(data, history, height)}>
                CSV
              </button>
            </footer>
          </div>
        )}
      </Shown>
    </View>
  )
}

/** The parameters of the chain, or the history of the one that the address names. */
export function Parameters({ path }: ViewProps) {
  const [name] = path
  if (name === undefined) return <ParameterList />
  const parameter = parameterOf(name)
  return parameter === undefined || path.length > 1 ? <NotFound /> : <ParameterHistory parameter={parameter} />
}
