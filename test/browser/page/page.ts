/** Runs in the browser: sends the file that is picked by tus-js-client, and tells the test how far it is. */
import { Upload } from 'tus-js-client'
import type { Told } from '../told.ts'

/** What the test adds to the page. */
declare function tell(told: Told): Promise<void>

const asked = new URLSearchParams(location.search)
const endpoint = asked.get('endpoint') ?? ''
const key = asked.get('key')
const headers: Record<string, string> = key === null ? {} : { Authorization: `Bearer ${key}` }

async function byTusJs(file: File): Promise<void> {
  const upload = new Upload(file, {
    endpoint,
    headers,
    metadata: { filename: file.name, filetype: file.type },
    onProgress: (bytes) => void tell({ kind: 'sent', bytes }),
    onSuccess: () => void tell({ kind: 'done', url: upload.url ?? '' }),
    onError: ({ message }) => void tell({ kind: 'failed', message }),
  })
  const [previous] = await upload.findPreviousUploads()
  if (previous !== undefined) upload.resumeFromPreviousUpload(previous)
  upload.start()
}

const input = document.querySelector('input')
input?.addEventListener('change', () => {
  const file = input.files?.item(0)
  if (file) void byTusJs(file)
})
void tell({ kind: 'ready' })
