import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { FileDetail } from '../../../src/contract/files.ts'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import { fetchDetail, folderArchive } from '../client.ts'
import { isOwnersAlone } from '../commands.ts'
import { problemText } from '../dialogs/use-attempt.ts'
import type { Entry, FileEntry, FolderEntry } from '../entry.ts'
import { useFiles } from '../files-context.ts'
import { amountOf } from '../list/amount.ts'
import { singleSelection } from '../selection/single-selection.ts'
import { useTimes } from '../use-times.ts'
import { EntryPreview } from './preview.tsx'

export function DetailsPanel({ close }: { close: () => void }) {
  const { texts, shown, manager } = useFiles()
  const { details } = texts
  const entry = singleSelection(shown.selection, manager)
  return (
    <aside
      aria-label={details.title}
      className="details"
      onKeyDown={({ key }) => {
        if (key === 'Escape') close()
      }}
    >
      <div className="dialog-head">
        <h2>{entry === null ? details.title : <bdi>{entry.name}</bdi>}</h2>
        <button aria-label={texts.dialogs.close} className="icon-button" onClick={close} type="button">
          <Drawing of="cross" />
        </button>
      </div>
      {entry === null ? (
        <p className="quiet">{details.nothing}</p>
      ) : (
        <DetailsOf entry={entry} key={entry.key} />
      )}
    </aside>
  )
}

function DetailsOf({ entry }: { entry: Entry }) {
  return entry.kind === 'file' ? <FileDetails file={entry} /> : <FolderDetails folder={entry} />
}

/** Actions come before facts, so that they are in view. */
function DetailsActions({ entry }: { entry: Entry }) {
  const { texts, words, shown, commands } = useFiles()
  const { details, actions } = texts
  return (
    <div className="details-actions">
      {isOwnersAlone(shown.tree, entry) ? (
        <p className="private-note small">
          <Drawing of="lock" />
          {details.privateWhy}
        </p>
      ) : null}
      {entry.kind === 'file' && entry.isDamaged ? (
        <p className="private-note small" role="note">
          <Drawing of="alert" />
          {details.damagedWhy}
        </p>
      ) : null}
      <Button
        component="a"
        download=""
        href={entry.kind === 'file' ? `${pathOf(entry)}?download=1` : folderArchive(entry.id)}
        leftSection={<Drawing of="download" />}
        variant="default"
      >
        {entry.kind === 'file' ? actions.download : actions.downloadZip}
      </Button>
      <Button
        leftSection={<Drawing of="copy" />}
        onClick={() => void commands.copyLinks([entry])}
        variant="light"
      >
        {words.count(1, actions.copyLink)}
      </Button>
      <Button
        leftSection={<Drawing of="share" />}
        onClick={() => commands.show({ kind: 'share', entries: [entry] })}
        variant="default"
      >
        {actions.share}
      </Button>
      <Button
        component="a"
        href={pathOf(entry)}
        leftSection={<Drawing of="link" />}
        target="_blank"
        variant="default"
      >
        {actions.openPage}
      </Button>
    </div>
  )
}

function pathOf(entry: Entry): string {
  return entry.kind === 'file' ? new URL(entry.url).pathname : `/f/${entry.id}`
}

function FileDetails({ file }: { file: FileEntry }) {
  const { texts, words, shown } = useFiles()
  const { details } = texts
  const times = useTimes()
  const [detail, setDetail] = useState<FileDetail | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [tries, setTries] = useState(0)

  // A file's details may change with each version.
  const isBusy = shown.busy.has(file.key)
  useEffect(() => {
    if (isBusy) return
    const asking = new AbortController()
    fetchDetail(file, asking.signal).then(
      (found) => {
        setDetail(found)
        setProblem(null)
      },
      (error: unknown) => {
        if (!asking.signal.aborted) setProblem(problemText(error, texts))
      },
    )
    return () => asking.abort()
  }, [file.id, shown.version, isBusy, tries])

  const verification = ({ verified_at: at }: FileDetail) =>
    at === null ? details.unverified : times.long(at)
  const facts: readonly (readonly [string, string])[] = [
    [details.size, words.size(file.size)],
    [details.uploaded, times.long(file.createdAt)],
    [details.views, detail === null ? '…' : words.number(detail.views)],
    [details.downloads, words.number(detail?.downloads ?? file.downloads)],
    detail !== null && detail.expires_at === null
      ? [details.expiry, details.never]
      : [details.expires, detail?.expires_at == null ? '…' : times.short(detail.expires_at)],
  ]
  const technical: typeof facts = [
    [details.type, file.type],
    ['SHA-256', detail?.sha256 ?? '…'],
    [details.verified, detail === null ? '…' : verification(detail)],
  ]
  return (
    <>
      <EntryPreview file={file} hasPicture={detail?.has_thumbnail === true} />
      <DetailsActions entry={file} />
      <ProblemMessage isSmall text={problem} />
      {problem === null ? null : (
        <Button onClick={() => setTries(tries + 1)} size="compact-md" variant="default">
          {texts.operations.retry}
        </Button>
      )}
      <Facts facts={facts} />
      <details className="disclosure">
        <summary>{details.technical}</summary>
        <Facts facts={technical} />
      </details>
    </>
  )
}

function FolderDetails({ folder }: { folder: FolderEntry }) {
  const files = useFiles()
  const { texts } = files
  const times = useTimes()
  const { details } = texts
  return (
    <>
      <DetailsActions entry={folder} />
      <Facts
        facts={[
          [details.content, amountOf(folder, files)],
          [details.created, times.long(folder.createdAt)],
          [details.access, folder.isPublic ? texts.dialogs.public : texts.private],
          [texts.dialogs.password, folder.hasPassword ? texts.locked : texts.dialogs.protections.none],
        ]}
      />
    </>
  )
}

function Facts({ facts }: { facts: readonly (readonly [string, string])[] }) {
  return (
    <dl className="facts">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt className="small quiet">{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
