import { useId } from 'react'
import { fetchFolders } from '../files/client.ts'
import { ProblemMessage } from '../shared/app/problem.tsx'
import { useAnswer } from '../shared/app/use-answer.ts'
import { pathsOf } from './folder-paths.ts'
import { useSettings } from './settings-context.ts'

interface FolderFieldProps {
  /** An identifier, or null for all folders. */
  readonly chosen: string | null
  readonly choose: (folder: string | null) => void
}

export function FolderField({ chosen, choose }: FolderFieldProps) {
  const { common, keys, newKey } = useSettings().texts
  const [field, hint] = [useId(), useId()]
  const { answered } = useAnswer(fetchFolders)
  const folders = answered.kind === 'there' ? pathsOf(answered.value) : []
  return (
    <div className="field">
      <label htmlFor={field}>{newKey.folder}</label>
      <p className="small quiet" id={hint}>
        {newKey.folderHint}
      </p>
      <select
        aria-describedby={hint}
        disabled={answered.kind === 'waiting'}
        id={field}
        onChange={({ currentTarget }) => choose(currentTarget.value === '' ? null : currentTarget.value)}
        value={chosen ?? ''}
      >
        <option value="">{keys.allFolders}</option>
        {folders.map(({ id, path }) => (
          <option key={id} value={id}>
            {path}
          </option>
        ))}
      </select>
      <ProblemMessage text={answered.kind === 'failed' ? common.noFolders : null} />
    </div>
  )
}
