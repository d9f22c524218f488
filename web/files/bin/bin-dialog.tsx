import { Button } from '@mantine/core'
import { useEffect, useId, useState } from 'react'
import type { BinEntry } from '../../../src/contract/bin.ts'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import { escapeTo } from '../../shared/escape-to.ts'
import { FileName } from '../../shared/file-name.tsx'
import { Told } from '../../shared/told.tsx'
import { fill } from '../../shared/words.ts'
import { FilesDialog } from '../dialogs/dialog.tsx'
import { useOneAtATime } from '../dialogs/use-one-at-a-time.ts'
import type { Place } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { failureText, reasonOf } from '../network-text.ts'
import { isLostWith } from '../operation-work.ts'
import { useTimes } from '../use-times.ts'
import { deleteEntry, emptyWholeBin, fetchBin, restoreEntry } from './bin-client.ts'
import { RestoreTo } from './restore-to.tsx'

/** The server's page size. */
const PAGE = 100

function useBin() {
  const { texts, manager } = useFiles()
  const [entries, setEntries] = useState<readonly BinEntry[] | null>(null)
  const [pages, setPages] = useState({ read: 0, all: 1 })
  const [homeless, setHomeless] = useState<BinEntry | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [done, setDone] = useState<string | null>(null)
  const oneAtATime = useOneAtATime()
  const failed = (error: unknown) => setProblem(failureText(error, texts))

  async function readFrom(first: number): Promise<void> {
    const known = new Set(entries?.map(({ id }) => id))
    // Concurrent deletions move known entries to later pages.
    for (let page = first, others = 0, all = page; others === 0 && page <= all; page++) {
      const found = await fetchBin(page)
      const added = found.entries.filter(({ id }) => !known.has(id))
      setEntries((before) => [...(before ?? []), ...added])
      setPages({ read: page, all: found.pages })
      others = added.length
      all = found.pages
    }
  }

  function read(page: number): void {
    setProblem(null)
    oneAtATime(() => readFrom(page).catch(failed))
  }

  useEffect(() => read(1), [])

  /** Removes the entry from the list on success. `said`: confirmation with its name. */
  function dealWith(entry: BinEntry, act: () => Promise<string | null>, said: string): void {
    setProblem(null)
    setDone(null)
    act().then((code) => {
      // Meanwhile the user may be choosing a folder for another one.
      if (code === 'FOLDER_NOT_FOUND') setHomeless(entry)
      else setHomeless((before) => (before?.id === entry.id ? null : before))
      if (code !== null) {
        setProblem(code === 'FOLDER_NOT_FOUND' ? null : reasonOf(code, texts))
        return
      }
      setEntries((before) => before?.filter(({ id }) => id !== entry.id) ?? null)
      setDone(fill(said, { name: entry.name }))
      manager.operations.withdrawUndo((deed) => isLostWith(deed, entry.id))
      void manager.refresh()
    }, failed)
  }

  function empty(emptied: () => void): void {
    emptyWholeBin().then(() => {
      emptied()
      manager.operations.withdrawUndo((deed) => isLostWith(deed, null))
      setEntries([])
      setPages({ read: 1, all: 1 })
    }, failed)
  }

  return {
    entries,
    hasMore: pages.read < pages.all,
    /** Restored and deleted entries are on no page any more, so the rest has moved forward. */
    readMore: () => read(Math.floor((entries?.length ?? 0) / PAGE) + 1),
    dealWith,
    empty,
    homeless,
    forgetHomeless: () => setHomeless(null),
    problem,
    done,
  }
}

export function BinDialog({ close }: { close: () => void }) {
  const { texts } = useFiles()
  const { bin } = texts
  const { entries, hasMore, readMore, dealWith, empty, homeless, forgetHomeless, problem, done } = useBin()
  const [asked, setAsked] = useState<number | null>(null)
  const isEmpty = entries?.length === 0 && !hasMore

  return (
    <FilesDialog close={close} isWide title={bin.title}>
      <ProblemMessage isSmall text={problem} />
      {done === null ? null : <Told className="small quiet">{done}</Told>}
      {homeless === null ? null : (
        <RestoreTo
          cancel={forgetHomeless}
          entry={homeless}
          key={homeless.id}
          restore={(to: Place) => dealWith(homeless, () => restoreEntry(homeless, to), bin.restored)}
        />
      )}
      {isEmpty ? <p className="quiet">{bin.emptyWhy}</p> : null}
      <ul className="plain-rows">
        {entries?.map((entry) => (
          <BinRow
            ask={() => setAsked(entry.id)}
            deal={dealWith}
            entry={entry}
            isAsked={asked === entry.id}
            keep={() => setAsked(null)}
            key={entry.id}
          />
        ))}
      </ul>
      <div className="dialog-actions">
        {hasMore && (entries !== null || problem !== null) ? (
          <Button onClick={readMore} variant="default">
            {entries === null ? texts.operations.retry : bin.more}
          </Button>
        ) : null}
        {entries === null || isEmpty ? null : <EmptyBin empty={empty} />}
      </div>
    </FilesDialog>
  )
}

function EmptyBin({ empty }: { empty: (emptied: () => void) => void }) {
  const { bin } = useFiles().texts
  const [isSure, setIsSure] = useState(false)
  const warning = useId()

  return (
    <>
      {isSure ? (
        <>
          <p className="small" id={warning}>
            {bin.sureWhy}
          </p>
          <Button
            aria-describedby={warning}
            autoFocus
            onClick={() => setIsSure(false)}
            onKeyDown={escapeTo(() => setIsSure(false))}
            variant="default"
          >
            {bin.keep}
          </Button>
        </>
      ) : null}
      <Button
        color="red"
        onClick={() => (isSure ? empty(() => setIsSure(false)) : setIsSure(true))}
        variant={isSure ? 'filled' : 'light'}
      >
        {isSure ? bin.sure : bin.emptyBin}
      </Button>
    </>
  )
}

interface BinRowProps {
  readonly entry: BinEntry
  readonly isAsked: boolean
  readonly ask: () => void
  readonly keep: () => void
  readonly deal: (entry: BinEntry, act: () => Promise<string | null>, said: string) => void
}

function BinRow({ entry, deal, isAsked, ask, keep }: BinRowProps) {
  const { texts, words } = useFiles()
  const times = useTimes()
  const { bin } = texts
  const { kind, name, size, restoring, expires_at } = entry
  const fate = restoring ? bin.returning : fill(bin.until, { day: times.short(expires_at) })

  if (isAsked) {
    return (
      <li className="bin-row bin-asked" onKeyDown={escapeTo(keep)}>
        <span className="plain-words" role="alert">
          <span>{fill(bin.askOne, { name })}</span>
          <span className="small quiet">{bin.sureWhy}</span>
        </span>
        <Button autoFocus className="tool" onClick={keep} variant="default">
          {bin.keep}
        </Button>
        <Button
          aria-label={`${bin.delete}: ${name}`}
          className="tool"
          color="red"
          onClick={() => deal(entry, () => deleteEntry(entry), bin.deleted)}
        >
          {bin.delete}
        </Button>
      </li>
    )
  }
  return (
    <li className="bin-row">
      <Drawing of={kind} />
      <span className="plain-words">
        <FileName name={name} />
        <span className="small quiet">
          {words.size(size)} · {fate}
        </span>
      </span>
      {restoring ? null : (
        <>
          <Button
            aria-label={`${bin.restore}: ${name}`}
            className="tool"
            onClick={() => deal(entry, () => restoreEntry(entry), bin.restored)}
            variant="default"
          >
            {bin.restore}
          </Button>
          <button
            aria-label={`${bin.delete}: ${name}`}
            className="icon-button"
            data-deletion
            onClick={ask}
            title={bin.delete}
            type="button"
          >
            <Drawing of="trash" />
          </button>
        </>
      )}
    </li>
  )
}
