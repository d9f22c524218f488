import { Button } from '@mantine/core'
import { useState } from 'react'
import type { ApiKey } from '../../src/contract/keys.ts'
import { Loaded } from '../shared/app/loaded.tsx'
import { PageSection } from '../shared/app/part.tsx'
import { useAnswer } from '../shared/app/use-answer.ts'
import { ConfirmDialog } from '../shared/dialogs/confirm-dialog.tsx'
import { Drawing } from '../shared/drawings/drawing.tsx'
import { fill } from '../shared/words.ts'
import { fetchKeys, revokeKey } from './client.ts'
import { NewKeyDialog } from './new-key-dialog.tsx'
import { useSettings } from './settings-context.ts'

/** What programs sign in with. */
export function KeysSection() {
  const { texts, say } = useSettings()
  const { keys } = texts
  const { answered, again } = useAnswer(fetchKeys)
  const [isMaking, setIsMaking] = useState(false)
  const [revoked, setRevoked] = useState<ApiKey | null>(null)
  return (
    <PageSection title={keys.title} why={keys.why}>
      <Loaded again={again} answered={answered}>
        {(all) => <KeyList keys={all} revoke={setRevoked} />}
      </Loaded>
      <Button className="add" onClick={() => setIsMaking(true)}>
        {keys.add}
      </Button>
      {isMaking ? <NewKeyDialog close={() => setIsMaking(false)} then={again} /> : null}
      {revoked === null ? null : (
        <ConfirmDialog
          act={() => revokeKey(revoked)}
          close={() => setRevoked(null)}
          then={() => {
            say(fill(keys.revoked, { name: revoked.name }))
            return again()
          }}
          title={fill(keys.revokeOf, { name: revoked.name })}
          verb={keys.revoke}
          why={keys.revokeWhy}
        />
      )}
    </PageSection>
  )
}

interface KeyListProps {
  readonly keys: readonly ApiKey[]
  readonly revoke: (key: ApiKey) => void
}

function KeyList({ keys, revoke }: KeyListProps) {
  const { texts } = useSettings()
  if (keys.length === 0) return <p className="quiet">{texts.keys.empty}</p>
  return (
    <ul className="plain-rows">
      {keys.map((key) => (
        <li key={key.id}>
          <div className="plain-words">
            <span className="row-name">
              {key.name} <code className="quiet">{key.prefix}…</code>
            </span>
            <KeyFacts apiKey={key} />
          </div>
          <button
            aria-label={fill(texts.keys.revokeOf, { name: key.name })}
            className="icon-button"
            data-deletion
            onClick={() => revoke(key)}
            type="button"
          >
            <Drawing of="trash" />
          </button>
        </li>
      ))}
    </ul>
  )
}

function KeyFacts({ apiKey }: { apiKey: ApiKey }) {
  const { texts, words } = useSettings()
  const { keys } = texts
  const { scopes, folder, folder_name: name, expires_at: end, last_used_at: used } = apiKey
  const place =
    folder === null
      ? keys.allFolders
      : name === null
        ? keys.folderGone
        : fill(keys.inFolder, { folder: name })
  const isOver = end !== null && Date.parse(end) <= Date.now()
  const until = end === null ? keys.neverEnds : fill(isOver ? keys.ended : keys.ends, { day: words.day(end) })
  return (
    <>
      <span className="small">{`${scopes.map((scope) => keys.scopes[scope]).join(', ')} · ${place}`}</span>
      <span className="small quiet">
        {`${until} · ${used === null ? keys.neverUsed : fill(keys.lastUsed, { day: words.day(used) })}`}
      </span>
    </>
  )
}
