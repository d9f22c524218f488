import { Button } from '@mantine/core'
import { Fragment, useEffect, useState } from 'react'
import type { Link } from '../../../src/contract/links.ts'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import { escapeTo } from '../../shared/escape-to.ts'
import { refusedRequest } from '../../shared/fetch-json.ts'
import { FileName } from '../../shared/file-name.tsx'
import { fill } from '../../shared/words.ts'
import { CopyButton } from '../../uploads/list/link-actions.tsx'
import { FilesDialog } from '../dialogs/dialog.tsx'
import { useOneAtATime } from '../dialogs/use-one-at-a-time.ts'
import { useFiles } from '../files-context.ts'
import { failureText, reasonOf } from '../network-text.ts'
import { useTimes } from '../use-times.ts'
import { LinkDetails } from './link-details.tsx'
import { fetchLinks, revokeLink } from './links-client.ts'

/** Newest first. */
function useLinks() {
  const { texts } = useFiles()
  const [links, setLinks] = useState<readonly Link[] | null>(null)
  const [pages, setPages] = useState({ read: 0, all: 1 })
  const [problem, setProblem] = useState<string | null>(null)
  const revoking = useOneAtATime()
  const failed = (error: unknown) => setProblem(failureText(error, texts))

  function read(page: number): void {
    setProblem(null)
    fetchLinks(page).then((found) => {
      // New links shift pages, and a second click reads one page twice.
      setLinks((before) => {
        const known = new Set(before?.map(({ slug }) => slug))
        return [...(before ?? []), ...found.links.filter(({ slug }) => !known.has(slug))]
      })
      setPages({ read: page, all: found.pages })
    }, failed)
  }

  useEffect(() => read(1), [])

  function changed(to: Link): void {
    setLinks((before) => before?.map((link) => (link.slug === to.slug ? to : link)) ?? null)
  }

  function revoke(revoked: Link, over: () => void): void {
    setProblem(null)
    const told = (error: unknown) => {
      const code = refusedRequest(error)
      if (code === null) failed(error)
      else setProblem(reasonOf(code, texts))
    }
    revoking(() =>
      revokeLink(revoked)
        .then(() => changed(withoutForce(revoked)), told)
        .then(over),
    )
  }

  return {
    links,
    hasMore: pages.read < pages.all,
    readMore: () => read(pages.read + 1),
    changed,
    revoke,
    problem,
  }
}

function withoutForce(link: Link): Link {
  return { ...link, state: 'revoked' }
}

export function LinksDialog({ close }: { close: () => void }) {
  const { links: texts, operations } = useFiles().texts
  const { links, hasMore, readMore, changed, revoke, problem } = useLinks()
  const [asked, setAsked] = useState<string | null>(null)
  const [opened, setOpened] = useState<string | null>(null)

  return (
    <FilesDialog close={close} isWide title={texts.title}>
      <ProblemMessage isSmall text={problem} />
      {links?.length === 0 ? <p className="quiet">{texts.emptyWhy}</p> : null}
      <ul className="plain-rows">
        {links?.map((link) =>
          asked === link.slug ? (
            <AskedRow
              keep={() => setAsked(null)}
              key={link.slug}
              link={link}
              revoke={() => revoke(link, () => setAsked(null))}
            />
          ) : (
            <Fragment key={link.slug}>
              <LinkRow
                ask={() => setAsked(link.slug)}
                isOpened={opened === link.slug}
                link={link}
                open={() => setOpened(opened === link.slug ? null : link.slug)}
              />
              {opened === link.slug ? <LinkDetails changed={changed} link={link} /> : null}
            </Fragment>
          ),
        )}
      </ul>
      {hasMore && (links !== null || problem !== null) ? (
        <div className="dialog-actions">
          <Button onClick={readMore} variant="default">
            {links === null ? operations.retry : texts.more}
          </Button>
        </div>
      ) : null}
    </FilesDialog>
  )
}

interface LinkRowProps {
  readonly link: Link
  readonly ask: () => void
  readonly isOpened: boolean
  readonly open: () => void
}

function LinkRow({ link, ask, isOpened, open }: LinkRowProps) {
  const { data, texts } = useFiles()
  const { links } = texts
  const title = useLinkTitle(link)
  const facts = useFacts(link)
  return (
    <li className="bin-row">
      <Drawing of={link.has_password ? 'lock' : 'link'} />
      <span className="plain-words">
        <FileName name={title} />
        <span className="small quiet">{facts.join(' · ')}</span>
      </span>
      {link.state === 'live' ? (
        <CopyButton
          copied={data.uploads.copied}
          label={data.uploads.copy}
          of={title}
          text={link.url}
          variant="light"
        />
      ) : null}
      {link.state === 'revoked' && link.uploads === null ? null : (
        <button
          aria-expanded={isOpened}
          aria-label={`${links.details}: ${title}`}
          className="icon-button"
          onClick={open}
          title={links.details}
          type="button"
        >
          <Drawing of="info" />
        </button>
      )}
      {link.state === 'revoked' ? null : (
        <button
          aria-label={`${links.revoke}: ${title}`}
          className="icon-button"
          data-deletion
          onClick={ask}
          title={links.revoke}
          type="button"
        >
          <Drawing of="trash" />
        </button>
      )}
    </li>
  )
}

interface AskedRowProps {
  readonly link: Link
  readonly keep: () => void
  readonly revoke: () => void
}

function AskedRow({ link, keep, revoke }: AskedRowProps) {
  const { texts } = useFiles()
  const title = useLinkTitle(link)
  const { links } = texts
  return (
    <li className="bin-row bin-asked" onKeyDown={escapeTo(keep)}>
      <span className="plain-words" role="alert">
        <span>{fill(links.ask, { name: title })}</span>
        <span className="small quiet">{links.askWhy}</span>
      </span>
      <Button autoFocus className="tool" onClick={keep} variant="default">
        {texts.bin.keep}
      </Button>
      <Button className="tool" color="red" onClick={revoke}>
        {links.revoke}
      </Button>
    </li>
  )
}

function useLinkTitle({ title, name, files, folders }: Link): string {
  const { texts, words } = useFiles()
  const { links } = texts
  if (title === '') return links.nothingLeft
  const others = files + folders - 1
  return name !== null || others < 1 ? title : fill(words.count(others, links.nameOfSeveral), { name: title })
}

function useFacts(link: Link): readonly string[] {
  const { texts, words } = useFiles()
  const times = useTimes()
  const { links } = texts
  const { downloads, max_downloads: most, ends_at: end, state, has_password } = link
  const counted =
    link.uploads !== null
      ? words.count(link.uploads.received_files, links.received)
      : most === null
        ? words.count(downloads, links.downloads)
        : fill(words.count(most, links.downloadsOf), { taken: words.number(downloads) })
  const day = end === null ? null : times.short(end)
  const states: Readonly<Record<Link['state'], string>> = {
    live: day === null ? links.endless : fill(links.until, { day }),
    ended: fill(links.ended, { day: day ?? '' }),
    used_up: link.uploads === null ? links.usedUp : links.full,
    revoked: links.revoked,
    empty: links.empty,
  }
  return [states[state], counted, ...(has_password ? [links.locked] : [])]
}
