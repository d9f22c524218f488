import { Button } from '@mantine/core'
import { useState } from 'react'
import { ALL_FILES_SORTS } from '../../src/domain/administration.ts'
import { FileName } from '../shared/file-name.tsx'
import { Part } from '../shared/part.tsx'
import { fill } from '../shared/words.ts'
import { AccountLink } from './account-link.tsx'
import { askedChoice } from './address.ts'
import { useAdmin } from './admin-context.ts'
import { Choices } from './choices.tsx'
import { fetchFiles, takeDown } from './client.ts'
import { PagedList } from './paged-list.tsx'
import type { AnyFile } from './shapes.ts'
import { TakeDownDialog } from './take-down-dialog.tsx'
import { Thumbnail } from './thumbnail.tsx'
import { useMoments } from './use-moments.ts'

const sort = askedChoice('sort', ALL_FILES_SORTS)
const fetchPage = (page: number) => fetchFiles(sort, page)

/** The files of everybody: the newest, or the largest. */
export function FilesSection() {
  const { files } = useAdmin().texts
  return (
    <Part title={files.title}>
      <Choices choices={ALL_FILES_SORTS} chosen={sort} label={files.choose} name="sort" texts={files.sorts} />
      <PagedList empty={files.empty} fetchPage={fetchPage}>
        {(file, changed) => <FileRow changed={changed} file={file} key={file.id} />}
      </PagedList>
    </Part>
  )
}

function FileRow({ file, changed }: { file: AnyFile; changed: () => Promise<void> }) {
  const { texts, words } = useAdmin()
  const { files, takeDown: taking } = texts
  const moment = useMoments()
  const [isAsking, setIsAsking] = useState(false)
  return (
    <li>
      <Thumbnail address={file.thumbnail_url} />
      <div className="plain-words">
        <a className="row-name row-link" href={file.url}>
          <FileName name={file.name} />
        </a>
        <p className="small">
          {words.size(file.size)} · {moment(file.created_at)} · <AccountLink account={file.account} />
        </p>
        <span className="small quiet">
          {[
            words.count(file.views, files.views),
            words.count(file.downloads, files.downloads),
            file.type,
          ].join(' · ')}
        </span>
      </div>
      <Button
        aria-label={fill(taking.of, { name: file.name })}
        className="row-button"
        onClick={() => setIsAsking(true)}
        variant="default"
      >
        {taking.verb}
      </Button>
      {isAsking ? (
        <TakeDownDialog
          act={() => takeDown({ file: String(file.id) })}
          close={() => setIsAsking(false)}
          name={file.name}
          then={() => void changed()}
        />
      ) : null}
    </li>
  )
}
