import { Button } from '@mantine/core'
import { useState } from 'react'
import { FileName } from '../shared/file-name.tsx'
import { Problem } from '../shared/problem.tsx'
import { useAttempt } from '../shared/use-attempt.ts'
import { fill } from '../shared/words.ts'
import { AccountLink } from './account-link.tsx'
import { useAdmin } from './admin-context.ts'
import { dismissReport, takeReportedDown } from './client.ts'
import type { Report } from './shapes.ts'
import { TakeDownDialog } from './take-down-dialog.tsx'
import { Thumbnail } from './thumbnail.tsx'
import { useMoments } from './use-moments.ts'

interface ReportRowProps {
  readonly report: Report
  readonly changed: () => Promise<void>
}

export function ReportRow({ report, changed }: ReportRowProps) {
  const { texts, say } = useAdmin()
  const { reports, takeDown } = texts
  const [isAsking, setIsAsking] = useState(false)
  const { problem, isBusy, attempt } = useAttempt()
  const { name, is_here: isHere } = report.file

  function dismiss(): void {
    void attempt(
      () => dismissReport(report),
      () => {
        say(reports.dismissed)
        void changed()
      },
    )
  }

  return (
    <li className="tall-row">
      <Thumbnail address={report.file.thumbnail_url} />
      <div className="plain-words">
        <ReportFacts report={report} />
        <Problem text={problem} />
      </div>
      <div className="buttons">
        {report.state === 'open' ? (
          <Button
            aria-label={fill(reports.dismissOf, { name })}
            className="row-button"
            disabled={isBusy}
            onClick={dismiss}
            variant="default"
          >
            {reports.dismiss}
          </Button>
        ) : null}
        {isHere || report.state === 'open' ? (
          <Button
            aria-label={fill(takeDown.of, { name })}
            className="row-button"
            color="red"
            onClick={() => setIsAsking(true)}
            variant="light"
          >
            {takeDown.verb}
          </Button>
        ) : null}
      </div>
      {isAsking ? (
        <TakeDownDialog
          act={() => takeReportedDown(report)}
          close={() => setIsAsking(false)}
          name={name}
          then={() => void changed()}
        />
      ) : null}
    </li>
  )
}

function ReportFacts({ report }: { report: Report }) {
  const { data, texts, words } = useAdmin()
  const { reports } = texts
  const moment = useMoments()
  const { file, reason, text, state, created_at: at } = report
  return (
    <>
      <span className="row-name">
        {file.is_here ? (
          <a className="row-link" href={file.url}>
            <FileName name={file.name} />
          </a>
        ) : (
          <FileName name={file.name} />
        )}
        {state === 'open' ? null : <span className="badge small">{reports.states[state]}</span>}
      </span>
      <span>{data.reasons[reason]}</span>
      {text === null ? null : <span className="report-text">{text}</span>}
      <p className="small quiet">
        {fill(reports.at, { time: moment(at) })}
        {' · '}
        {file.is_here && file.size !== null ? (
          <>
            {words.size(file.size)} · <AccountLink account={file.account} />
          </>
        ) : (
          reports.gone
        )}
      </p>
    </>
  )
}
