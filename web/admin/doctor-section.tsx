import { Button } from '@mantine/core'
import type { Diagnosis, Finding, Template } from '../../src/contract/operations.ts'
import { Loaded } from '../shared/app/loaded.tsx'
import { PageSection } from '../shared/app/part.tsx'
import { useAnswer } from '../shared/app/use-answer.ts'
import { useAttempt } from '../shared/app/use-attempt.ts'
import { Drawing } from '../shared/drawings/drawing.tsx'
import { Told } from '../shared/told.tsx'
import { fill } from '../shared/words.ts'
import { useAdmin } from './admin-context.ts'
import { examine } from './client.ts'
import { Translated, type Translations } from './translated.tsx'

/** What matters most to visitors comes first. */
const PARTS = ['address', 'services', 'database', 'machine'] as const
const LEVELS: readonly Finding['level'][] = ['problem', 'advice', 'unknown', 'ok']

/** Whether the set-up is sound. */
export function DoctorSection() {
  const { doctor } = useAdmin().texts
  const { answered, again } = useAnswer(examine)
  const { isBusy, attempt } = useAttempt()
  const isWaiting = answered.kind === 'waiting' || isBusy
  return (
    <PageSection title={doctor.title} why={doctor.why}>
      <p className={isWaiting ? 'quiet' : 'off-screen'} role="status">
        {isWaiting ? doctor.waiting : ''}
      </p>
      <Loaded again={again} answered={answered}>
        {(diagnosis) => (
          <>
            <Verdict diagnosis={diagnosis} />
            {PARTS.map((part) => (
              <Findings findings={diagnosis[part]} key={part} title={doctor.parts[part]} />
            ))}
            <div>
              <Button
                disabled={isBusy}
                leftSection={<Drawing of="refresh" />}
                onClick={() => void attempt(again, () => {})}
                variant="default"
              >
                {doctor.again}
              </Button>
            </div>
          </>
        )}
      </Loaded>
    </PageSection>
  )
}

function Verdict({ diagnosis }: { diagnosis: Diagnosis }) {
  const { texts, words } = useAdmin()
  const problems = PARTS.flatMap((part) => diagnosis[part]).filter(({ level }) => level === 'problem').length
  return <Told>{problems === 0 ? texts.doctor.sound : words.count(problems, texts.doctor.problems)}</Told>
}

function Findings({ title, findings }: { title: string; findings: readonly Finding[] }) {
  const sorted = findings.toSorted((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
  if (sorted.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <ul className="plain-rows">
        {sorted.map((finding) => (
          <FindingRow finding={finding} key={`${finding.check} ${finding.what}`} />
        ))}
      </ul>
    </>
  )
}

/** With the name that the command line has for the check, which administrators look up. */
function FindingRow({ finding: { check, level, what, why, templates, changes } }: { finding: Finding }) {
  const { doctor } = useAdmin().texts
  return (
    <li>
      <div className="plain-words">
        <span className="row-name">
          {doctor.titles[check] ?? check}
          <span className={level === 'problem' ? 'badge-bad small' : 'badge small'}>
            {doctor.levels[level]}
          </span>
          <code className="small quiet">{check}</code>
        </span>
        <Translated into={sentenceOf(templates.what, doctor.sentences)} text={what} />
        {why === '' ? null : (
          <Translated className="small quiet" into={sentenceOf(templates.why, doctor.sentences)} text={why} />
        )}
        {changes.map(({ where, line }) => (
          <span className="small finding-change" key={`${where} ${line}`} lang="en">
            {where}: <code>{line}</code>
          </span>
        ))}
      </div>
    </li>
  )
}

function sentenceOf({ template, values }: Template, translations: Translations): string | undefined {
  const translation = translations[template]
  return translation === undefined ? undefined : fill(translation, Object.fromEntries(values.entries()))
}
