import { Button } from '@mantine/core'
import { Loaded } from '../shared/loaded.tsx'
import { Part } from '../shared/part.tsx'
import { PartsBar, PartsList, type Part as Share } from '../shared/parts.tsx'
import { useAnswer } from '../shared/use-answer.ts'
import { fill } from '../shared/words.ts'
import { fetchAccount, fetchStorage } from './client.ts'
import { useSettings } from './settings-context.ts'
import type { Account, StorageShares } from './shapes.ts'

interface Stored {
  readonly account: Account
  readonly shares: StorageShares
}

async function fetchStored(): Promise<Stored> {
  const [account, shares] = await Promise.all([fetchAccount(), fetchStorage()])
  return { account, shares }
}

/** How much is stored and left, and what it is. */
export function StorageSection() {
  const { texts } = useSettings()
  const { answered, again } = useAnswer(fetchStored)
  return (
    <Part title={texts.storage.title}>
      <Loaded again={again} answered={answered}>
        {(stored) => <Storage {...stored} />}
      </Loaded>
    </Part>
  )
}

function Storage({ account, shares }: Stored) {
  const { texts, words } = useSettings()
  const { storage } = texts
  const { storage_used: used, storage_limit: limit, storage_in_bin: inBin } = account
  const left = limit - used
  const kinds: readonly Share[] = [
    ...shares.kinds.map(({ kind, bytes }) => ({ name: storage.kinds[kind], size: bytes })),
    { name: storage.kinds.bin, size: inBin },
  ]
  return (
    <>
      <p className="figure">
        <span>{fill(storage.used, { used: words.size(used), limit: words.size(limit) })}</span>
        <span className="quiet">
          {left > 0 ? fill(storage.left, { size: words.size(left) }) : storage.full}
        </span>
      </p>
      <PartsBar format={words.size} parts={kinds} whole={Math.max(limit, used)} />
      {used === 0 ? <Empty /> : <ByFolder shares={shares} />}
    </>
  )
}

function ByFolder({ shares }: Pick<Stored, 'shares'>) {
  const { texts, words } = useSettings()
  const { storage } = texts
  const rest: readonly Share[] = [
    { name: storage.otherFolders, size: shares.other_folders.bytes },
    { name: storage.noFolder, size: shares.top_level.bytes, href: '/files' },
  ]
  const parts = [
    ...shares.folders.map(({ identifier, name, bytes }) => ({
      name,
      size: bytes,
      href: `/files/${identifier}`,
    })),
    ...rest.filter(({ size }) => size > 0),
  ]
  if (parts.length === 0) return null
  return (
    <>
      <h3>{storage.byFolder}</h3>
      <PartsList format={words.size} parts={parts} whole={Math.max(...parts.map(({ size }) => size))} />
    </>
  )
}

function Empty() {
  const { storage } = useSettings().texts
  return (
    <div className="failed">
      <p className="quiet">{storage.empty}</p>
      <Button component="a" href="/files">
        {storage.upload}
      </Button>
    </div>
  )
}
