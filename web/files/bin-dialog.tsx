import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Drawing } from '../shared/drawing.tsx'
import { FileName } from '../shared/file-name.tsx'
import { fill } from '../shared/words.ts'
import { type BinEntry, deleteEntry, emptyBin, fetchBin, restoreEntry } from './bin-client.ts'
import { Dialog } from './dialog.tsx'
import { useFiles } from './files-context.ts'
import { useTimes } from './use-times.ts'

/** What was deleted and is not gone yet. */
export function BinDialog({ close }: { close: () => void }) {
  const { texts, commands, manager } = useFiles()
  const { bin } = texts
  const [entries, setEntries] = useState<readonly BinEntry[] | null>(null)
  const [pages, setPages] = useState({ read: 0, all: 1 })
  const [isSure, setIsSure] = useState(false)
  const failed = () => commands.say(texts.dialogs.notReached)

  function read(page: number): void {
    fetchBin(page).then((found) => {
      const known = page === 1 ? [] : (entries ?? [])
      const ids = new Set(known.map(({ id }) => id))
      setEntries([...known, ...found.entries.filter(({ id }) => !ids.has(id))])
      setPages({ read: page, all: found.pages })
    }, failed)
  }

  // It is read when it is opened.
  useEffect(() => read(1), [])

  /** Does it, and takes the entry off the list when that is done. */
  function dealWith(entry: BinEntry, act: (entry: BinEntry) => Promise<boolean>): void {
    act(entry).then((isDone) => {
      if (!isDone) return failed()
      setEntries((before) => before?.filter(({ id }) => id !== entry.id) ?? null)
      void manager.refresh()
    }, failed)
  }

  function empty(): void {
    if (!isSure) {
      setIsSure(true)
      return
    }
    emptyBin().then(() => {
      setIsSure(false)
      setEntries([])
      setPages({ read: 1, all: 1 })
    }, failed)
  }

  return (
    <Dialog close={close} isWide title={bin.title}>
      {entries?.length === 0 ? <p className="quiet">{bin.emptyWhy}</p> : null}
      <ul className="plain-rows">
        {entries?.map((entry) => (
          <BinRow deal={dealWith} entry={entry} key={entry.id} />
        ))}
      </ul>
      <div className="dialog-actions">
        {pages.read < pages.all ? (
          <Button onClick={() => read(pages.read + 1)} variant="default">
            {bin.more}
          </Button>
        ) : null}
        {isSure ? <p className="small">{bin.sureWhy}</p> : null}
        {entries === null || entries.length === 0 ? null : (
          <Button color="red" onClick={empty} variant={isSure ? 'filled' : 'light'}>
            {isSure ? bin.sure : bin.emptyBin}
          </Button>
        )}
      </div>
    </Dialog>
  )
}

interface BinRowProps {
  readonly entry: BinEntry
  readonly deal: (entry: BinEntry, act: (entry: BinEntry) => Promise<boolean>) => void
}

function BinRow({ entry, deal }: BinRowProps) {
  const { texts, words } = useFiles()
  const times = useTimes()
  const { bin } = texts
  return (
    <li>
      <Drawing of={entry.kind} />
      <span className="plain-words">
        <FileName name={entry.name} />
        <span className="small quiet">
          {words.size(entry.size)} · {fill(bin.until, { day: times.short(entry.expires_at) })}
        </span>
      </span>
      <Button
        aria-label={`${bin.restore}: ${entry.name}`}
        className="tool"
        onClick={() => deal(entry, restoreEntry)}
        variant="default"
      >
        {bin.restore}
      </Button>
      <button
        aria-label={`${bin.delete}: ${entry.name}`}
        className="icon-button"
        data-deletion
        onClick={() => deal(entry, deleteEntry)}
        title={bin.delete}
        type="button"
      >
        <Drawing of="trash" />
      </button>
    </li>
  )
}
