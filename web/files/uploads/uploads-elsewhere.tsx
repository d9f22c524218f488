import { Button } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import type { ListedUpload } from '../../../src/contract/uploads.ts'
import { FileName } from '../../shared/file-name.tsx'
import { fill } from '../../shared/words.ts'
import type { UploadEngine } from '../../uploads/engine.ts'
import type { View } from '../../uploads/list/view.ts'
import type { OtherFile } from '../../uploads/upload-item.ts'
import { useFiles } from '../files-context.ts'
import { TakeOverButton } from './take-over-button.tsx'
import { cancelUnfinishedUpload, fetchUnfinished } from './uploads-client.ts'

export function UploadsElsewhere({ engine, view }: { engine: UploadEngine; view: View }) {
  const { texts, commands } = useFiles()
  const [uploads, setUploads] = useState<readonly ListedUpload[] | null>(null)
  const ending = useRef(new Set<string>())
  const { items } = engine.snapshot()
  // Includes those that have left the list since.
  const here = useRef(new Set<string | null>()).current
  for (const { link } of items) here.add(link)
  /** It may be listed there before its link is known here. */
  const isStarting = ({ name, size }: ListedUpload) =>
    items.some((item) => item.link === null && item.name === name && item.size === size)
  const others =
    uploads?.filter((upload) => !(upload.url !== undefined && here.has(upload.url)) && !isStarting(upload)) ??
    null

  useEffect(() => {
    fetchUnfinished().then(setUploads, commands.failed)
  }, [commands])

  async function end(upload: ListedUpload): Promise<void> {
    // A second click would fail: the upload is gone.
    if (ending.current.has(upload.slug)) return
    ending.current.add(upload.slug)
    try {
      await cancelUnfinishedUpload(upload)
      setUploads((before) => before?.filter(({ slug }) => slug !== upload.slug) ?? null)
    } catch (error) {
      commands.failed(error)
    }
    ending.current.delete(upload.slug)
  }

  if (others === null) return null
  if (others.length === 0) {
    return items.length === 0 ? <p className="quiet">{texts.uploads.none}</p> : null
  }
  return (
    <section className="elsewhere">
      <h3>{texts.uploads.elsewhere}</h3>
      <p className="quiet small">{texts.uploads.elsewhereWhy}</p>
      <ul className="plain-rows">
        {others.map((upload) => (
          <UploadElsewhere
            end={() => void end(upload)}
            engine={engine}
            key={upload.slug}
            upload={upload}
            view={view}
          />
        ))}
      </ul>
    </section>
  )
}

interface UploadElsewhereProps {
  readonly engine: UploadEngine
  readonly view: View
  readonly upload: ListedUpload
  readonly end: () => void
}

function UploadElsewhere({ engine, view, upload, end }: UploadElsewhereProps) {
  const { texts, words } = useFiles()
  const [other, setOther] = useState<OtherFile | null>(null)
  const { name, received, size, status, url } = upload
  return (
    <li>
      <span className="plain-words">
        <FileName name={name} />
        <span className="small quiet">
          {size === null
            ? words.size(received)
            : fill(texts.uploads.progress, { received: words.size(received), size: words.size(size) })}
        </span>
        {other === null || size === null ? null : (
          <span className="failure small" role="alert">
            {view.otherFile({ name, size }, other)}
          </span>
        )}
      </span>
      {size === null || url === undefined || status !== 'uploading' ? null : (
        <TakeOverButton engine={engine} refuse={setOther} size={size} upload={upload} url={url} />
      )}
      <Button
        aria-label={`${texts.uploads.cancel}: ${name}`}
        className="tool"
        onClick={end}
        variant="default"
      >
        {texts.uploads.cancel}
      </Button>
    </li>
  )
}
