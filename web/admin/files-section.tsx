import { useState } from 'react'
import type { AnyFile } from '../../src/contract/administration.ts'
import { ALL_FILES_SORTS } from '../../src/domain/account.ts'
import { PageSection } from '../shared/app/part.tsx'
import { RowButton } from '../shared/app/row-button.tsx'
import { FileName } from '../shared/file-name.tsx'
import { fill } from '../shared/words.ts'
import { AccountLink } from './accounts/account-link.tsx'
import { useAdmin } from './admin-context.ts'
import { fetchFiles, takeDown } from './client.ts'
import { askedChoice } from './lists/address.ts'
import { Choices } from './lists/choices.tsx'
import { PagedList } from './lists/paged-list.tsx'
import { TakeDownDialog } from './reports/take-down-dialog.tsx'
import { ReportThumbnail } from './thumbnail.tsx'
import { useMoments } from './use-moments.ts'

const sort = askedChoice('sort', ALL_FILES_SORTS)
const fetchPage = (page: number) => fetchFiles(sort, page)

/** The files of everybody: the newest, or the largest. */
export function FilesSection() {
  const { files } = useAdmin().texts
  return (
    <PageSection title={files.title}>
      <Choices choices={ALL_FILES_SORTS} chosen={sort} label={files.choose} name="sort" texts={files.sorts} />
      <PagedList empty={files.empty} fetchPage={fetchPage}>
        {(file, changed) => <FileRow changed={changed} file={file} key={file.id} />}
      </PagedList>
    </PageSection>
  )
}

function FileRow({ file, changed }: { file: AnyFile; changed: () => Promise<void> }) {
  const { texts, words } = useAdmin()
  const { files, takeDown: taking } = texts
  const moment = useMoments()
  const [isAsking, setIsAsking] = useState(false)
  return (
    <li>
      <ReportThumbnail address={file.picture_url} />
      <div className="plain-words">
        <a className="row-name row-link" href={file.url}>
          <FileName name={file.name} />
        </a>
        <p className="small">
          {words.size(file.size)} · {moment(file.created_at)} · <AccountLink account={file.account} />
        </p>
        <span className="small quiet">
          {[words.count(file.views, files.views), words.count(file.downloads, files.downloads)].join(' · ')}
        </span>
      </div>
      <RowButton
        label={fill(taking.of, { name: file.name })}
        act={() => setIsAsking(true)}
        text={taking.verb}
      />
      {isAsking ? (
        <TakeDownDialog
          act={() => takeDown({ file: String(file.id) })}
          close={() => setIsAsking(false)}
          name={file.name}
          then={changed}
        />
      ) : null}
    </li>
  )
}
