import type { DamagedFile } from '../../../src/contract/administration.ts'
import { FileName } from '../../shared/file-name.tsx'
import { fill } from '../../shared/words.ts'
import { AccountLink } from '../accounts/account-link.tsx'
import { useAdmin } from '../admin-context.ts'
import { useMoments } from '../use-moments.ts'

export function DamagedRow({ file }: { file: DamagedFile }) {
  const { texts, words } = useAdmin()
  const { integrity } = texts
  const moment = useMoments()
  const times = [fill(integrity.foundAt, { time: moment(file.found_at) })]
  if (file.repaired_at !== null) times.push(fill(integrity.repairedAt, { time: moment(file.repaired_at) }))
  return (
    <li>
      <div className="plain-words">
        <a className="row-name row-link" href={file.url}>
          <FileName name={file.name} />
        </a>
        <p className="small">
          {words.size(file.size)} · <AccountLink account={file.account} />
        </p>
        {file.reason === null ? null : (
          <span className="small failure">{integrity.reasons[file.reason]}</span>
        )}
        <span className="small quiet">{times.join(' · ')}</span>
        <code className="hash small quiet">{file.key}</code>
      </div>
    </li>
  )
}
