import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import { FileName } from '../shared/file-name.tsx'
import { fill } from '../shared/words.ts'
import type { Engine } from '../start/engine.ts'
import { useFiles } from './files-context.ts'
import { endUpload, fetchUnfinished, type UnfinishedUpload } from './uploads-client.ts'

/** Uploads that other windows and programs have begun: they go on there, and can be given up here. */
export function UploadsElsewhere({ engine }: { engine: Engine }) {
  const { texts, words, commands } = useFiles()
  const [uploads, setUploads] = useState<readonly UnfinishedUpload[] | null>(null)
  const here = new Set(engine.snapshot().items.map(({ link }) => link))
  const others = uploads?.filter(({ url }) => url === undefined || !here.has(url)) ?? null

  useEffect(() => {
    fetchUnfinished().then(setUploads, () => commands.say(texts.problems.network))
  }, [commands, texts])

  async function end(upload: UnfinishedUpload): Promise<void> {
    try {
      await endUpload(upload)
      setUploads((before) => before?.filter(({ slug }) => slug !== upload.slug) ?? null)
    } catch {
      commands.say(texts.dialogs.notReached)
    }
  }

  if (others === null) return null
  if (others.length === 0) {
    return here.size === 0 ? <p className="quiet">{texts.uploads.none}</p> : null
  }
  return (
    <section>
      <h3>{texts.uploads.elsewhere}</h3>
      <ul className="plain-rows">
        {others.map((upload) => (
          <li key={upload.slug}>
            <span className="plain-words">
              <FileName name={upload.name} />
              <span className="small quiet">
                {upload.size === null
                  ? words.size(upload.received)
                  : fill(texts.uploads.progress, {
                      received: words.size(upload.received),
                      size: words.size(upload.size),
                    })}
              </span>
            </span>
            <Button
              aria-label={`${texts.uploads.cancel}: ${upload.name}`}
              className="tool"
              onClick={() => void end(upload)}
              variant="default"
            >
              {texts.uploads.cancel}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}
