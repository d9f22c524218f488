import { Button, Textarea } from '@mantine/core'
import { fill } from '../../../web/shared/words.ts'
import { MAX_REPORT_TEXT, REPORT_REASONS } from '../../domain/report.ts'
import type { ReportPageView } from '../views.ts'
import type { PageContext } from './context.ts'
import { waitingTime } from './error.tsx'
import { Layout, NoIndex } from './layout.tsx'

export function ReportPage({ view, context }: { view: ReportPageView; context: PageContext }) {
  const texts = context.texts.report
  const { file, filled, problem } = view
  const most = { count: context.words.number(MAX_REPORT_TEXT) }
  return (
    <Layout context={context} head={<NoIndex />} isMoving title={texts.title}>
      <main className="message report">
        <h1>{texts.title}</h1>
        <p>
          <a href={file.path}>
            <bdi>{file.name}</bdi>
          </a>
        </p>
        <p className="quiet">{texts.why}</p>
        {problem?.kind === 'too many' ? (
          <p className="failure" role="alert">
            {fill(texts.tooMany, {
              wait: waitingTime(problem.retryAfter, context.words, context.texts.common),
            })}
          </p>
        ) : null}
        <form action={`${file.path}/report`} method="post">
          <Reasons chosen={filled.reason} isMissing={problem?.kind === 'no reason'} texts={texts} />
          <Textarea
            defaultValue={filled.text}
            description={fill(texts.textHint, most)}
            error={problem?.kind === 'long text' ? fill(texts.textTooLong, most) : null}
            errorProps={{ role: 'alert' }}
            id="text"
            label={texts.text}
            maxLength={MAX_REPORT_TEXT}
            name="text"
            rows={5}
          />
          <Button className="button" type="submit">
            {texts.send}
          </Button>
        </form>
      </main>
    </Layout>
  )
}

function Reasons(props: {
  chosen: ReportPageView['filled']['reason']
  isMissing: boolean
  texts: PageContext['texts']['report']
}) {
  const { chosen, isMissing, texts } = props
  return (
    <fieldset aria-describedby={isMissing ? 'reason-missing' : undefined}>
      <legend>{texts.reason}</legend>
      {isMissing ? (
        <p className="failure" id="reason-missing" role="alert">
          {texts.reasonMissing}
        </p>
      ) : null}
      {REPORT_REASONS.map((reason) => (
        <label key={reason}>
          <input defaultChecked={reason === chosen} name="reason" required type="radio" value={reason} />
          {texts.reasons[reason]}
        </label>
      ))}
    </fieldset>
  )
}

export function ReportedPage({ filePath, context }: { filePath: string; context: PageContext }) {
  const texts = context.texts.report
  return (
    <Layout context={context} head={<NoIndex />} title={texts.thanks}>
      <main className="message ground">
        <h1>{texts.thanks}</h1>
        <p className="quiet">{texts.thanksWhy}</p>
        <Button className="button" component="a" href={filePath} variant="default">
          {texts.back}
        </Button>
      </main>
    </Layout>
  )
}
