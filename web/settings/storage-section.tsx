import { Button } from '@mantine/core'
import { useEffect } from 'react'
import type { Account, StorageShares } from '../../src/contract/account.ts'
import { isNearlyFull } from '../../src/domain/storage.ts'
import { Loaded } from '../shared/app/loaded.tsx'
import { NearlyFull } from '../shared/app/nearly-full.tsx'
import { PageSection } from '../shared/app/part.tsx'
import { useAnswer } from '../shared/app/use-answer.ts'
import { watchAccount } from '../shared/app/watch.ts'
import { PartsBar, PartsList, type ChartPart as Share } from '../shared/charts/parts.tsx'
import { fill } from '../shared/words.ts'
import { fetchOwnAccount, fetchStorage } from './client.ts'
import { useSettings } from './settings-context.ts'

interface Stored {
  readonly account: Account
  readonly shares: StorageShares
}

async function fetchStored(): Promise<Stored> {
  const [account, shares] = await Promise.all([fetchOwnAccount(), fetchStorage()])
  return { account, shares }
}

/** How much is stored and left, and what it is. */
export function StorageSection() {
  const { texts } = useSettings()
  const { answered, again } = useAnswer(fetchStored)
  useEffect(() => watchAccount({ changed: () => {}, nearlyFull: () => void again() }), [again])
  return (
    <PageSection title={texts.storage.title}>
      <Loaded again={again} answered={answered}>
        {(stored) => <Storage {...stored} />}
      </Loaded>
    </PageSection>
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
      {isNearlyFull(used, limit) ? (
        <p className="nearly-full" role="status">
          <NearlyFull account={account} texts={storage.room} words={words} />
        </p>
      ) : null}
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
