import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Report } from '../../../src/contract/administration.ts'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { RowButton } from '../../shared/app/row-button.tsx'
import { useAttempt } from '../../shared/app/use-attempt.ts'
import { FileName } from '../../shared/file-name.tsx'
import { fill } from '../../shared/words.ts'
import { AccountLink } from '../accounts/account-link.tsx'
import { useAdmin } from '../admin-context.ts'
import { dismissReport, takeReportedDown } from '../client.ts'
import { ReportThumbnail } from '../thumbnail.tsx'
import { useMoments } from '../use-moments.ts'
import { TakeDownDialog } from './take-down-dialog.tsx'

interface ReportRowProps {
  readonly report: Report
  readonly changed: () => Promise<void>
}

export function ReportLine({ report, changed }: ReportRowProps) {
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
        return changed()
      },
    )
  }

  return (
    <li className="tall-row">
      <ReportThumbnail address={report.file.picture_url} />
      <div className="plain-words">
        <ReportFacts report={report} />
        <ProblemMessage text={problem} />
      </div>
      <div className="buttons">
        {report.state === 'open' ? (
          <RowButton
            label={fill(reports.dismissOf, { name })}
            act={dismiss}
            isDisabled={isBusy}
            text={reports.dismiss}
          />
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
          then={changed}
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
