import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import type { ReferenceField, ReferenceOperation, ReferenceType, ReferenceView } from '../views.ts'

/** Plain `details` elements, so that a browser lays out only what is opened. English only. */
export function Reference({ view, copy }: { view: ReferenceView; copy: ReferenceCopy }) {
  return (
    <div lang="en">
      <nav aria-label="Groups of routes" className="page-nav">
        {view.groups.map(({ name }) => (
          <a href={`#${slugOf(name)}`} key={name}>
            {name}
          </a>
        ))}
        <a href="#schemas">Schemas</a>
      </nav>
      {view.groups.map(({ name, operations }) => (
        <section aria-labelledby={slugOf(name)} key={name}>
          <h2 id={slugOf(name)}>{name}</h2>
          {operations.map((operation) => (
            <Operation copy={copy} key={operation.id} operation={operation} />
          ))}
        </section>
      ))}
      <section aria-labelledby="schemas">
        <h2 id="schemas">Schemas</h2>
        {view.schemas.map(({ name, fields }) => (
          <details className="route" key={name}>
            <summary>
              <code>{name}</code>
            </summary>
            <div className="route-facts" id={schemaId(name)}>
              <Fields caption={`Fields of ${name}`} fields={fields} />
            </div>
          </details>
        ))}
      </section>
    </div>
  )
}

export interface ReferenceCopy {
  readonly copy: string
  readonly copied: string
  readonly failed: string
}

function Operation({ operation, copy }: { operation: ReferenceOperation; copy: ReferenceCopy }) {
  const { id, method, path, summary, description, access, parameters, body, answers, errors, curl } =
    operation
  return (
    <details className="route">
      <summary>
        <span className={`method method-${method.toLowerCase()}`}>{method}</span>
        <code className="path">{breakable(path)}</code>
        <span className="quiet">{summary}</span>
      </summary>
      <div className="route-facts" id={id}>
        {description === '' ? null : <p>{description}</p>}
        <p>
          {`${access}. `}
          <a href={`#${id}`}>Link to this route</a>
        </p>
        <div className="command">
          <pre>
            <code>{curl}</code>
          </pre>
          <button
            className="button button-quiet copy"
            data-copied={copy.copied}
            data-copy={curl}
            data-failed={copy.failed}
            type="button"
          >
            <Drawing of="copy" />
            <span aria-live="polite">{copy.copy}</span>
          </button>
          <p className="small copy-failed" role="alert" />
        </div>
        {parameters.length === 0 ? null : <Parameters parameters={parameters} />}
        {body === null ? null : (
          <>
            <h3>{`Body: ${body.type}`}</h3>
            <Fields caption="Fields of the body" fields={body.fields} />
          </>
        )}
        {answers.map((answer) => (
          <Answer answer={answer} key={answer.status} />
        ))}
        {errors.length === 0 ? null : (
          <>
            <h3>Errors</h3>
            <dl className="statuses">
              {errors.map(({ status, description }) => (
                <div key={status}>
                  <dt>{status}</dt>
                  <dd>{description}</dd>
                </div>
              ))}
            </dl>
          </>
        )}
      </div>
    </details>
  )
}

function Parameters({ parameters }: Pick<ReferenceOperation, 'parameters'>) {
  const fields = parameters.map(({ place, ...field }) => ({
    ...field,
    description: [`In the ${place}.`, field.description].join(' ').trim(),
  }))
  return (
    <>
      <h3>Parameters</h3>
      <Fields caption="Parameters" fields={fields} />
    </>
  )
}

function Answer({ answer }: { answer: ReferenceOperation['answers'][number] }) {
  const { status, description, type, fields, example } = answer
  return (
    <>
      <h3>{`Answer ${status}: ${description}`}</h3>
      {type === '' || type === 'application/json' ? null : (
        <p>
          <code>{type}</code>
        </p>
      )}
      <Fields caption={`Fields of the answer ${status}`} fields={fields} />
      {example === null ? null : (
        <details className="example">
          <summary>Example</summary>
          <pre>
            <code>{example}</code>
          </pre>
        </details>
      )}
    </>
  )
}

function Fields({ fields, caption }: { fields: readonly ReferenceField[]; caption: string }) {
  if (fields.length === 0) return null
  return (
    <dl aria-label={caption} className="fields">
      {fields.map(({ name, type, isRequired, description }) => (
        <div key={name}>
          <dt>
            <code>{breakable(name)}</code>
            {isRequired ? null : <span className="small quiet"> optional</span>}
          </dt>
          <dd>
            <Type type={type} />
            {description === '' ? null : <span className="quiet">{` ${description}`}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Type({ type }: { type: ReferenceType }) {
  return type.schema === null ? (
    <code>{type.text}</code>
  ) : (
    <a href={`#${schemaId(type.schema)}`}>
      <code>{type.text}</code>
    </a>
  )
}

function breakable(text: string) {
  return text.split(/(?<=[/._])/).flatMap((part, at) => (at === 0 ? [part] : [<wbr key={`${at}`} />, part]))
}

function slugOf(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-')
}

function schemaId(name: string): string {
  return `schema-${name}`
}
