/** Runs in the browser: sends the file that is picked by the client that the address names, and tells the test how far it is. */
import Uppy from '@uppy/core'
import Tus from '@uppy/tus'
import { Upload } from 'tus-js-client'
import type { Told } from '../told.ts'

/** What the test adds to the page. */
declare function tell(told: Told): Promise<void>

const asked = new URLSearchParams(location.search)
const endpoint = asked.get('endpoint') ?? ''
const key = asked.get('key')
const headers: Record<string, string> = key === null ? {} : { Authorization: `Bearer ${key}` }

const clients: Readonly<Record<string, (file: File) => void>> = {
  'tus-js-client': (file) => void byTusJs(file),
  Uppy: byUppy,
}

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

function byUppy(file: File): void {
  const uppy = new Uppy({ autoProceed: true })
  uppy.use(Tus, { endpoint, headers })
  uppy.on('upload-progress', (_, { bytesUploaded }) => void tell({ kind: 'sent', bytes: bytesUploaded }))
  uppy.on('upload-success', (_, { uploadURL }) => void tell({ kind: 'done', url: uploadURL ?? '' }))
  uppy.on('upload-error', (_, { message }) => void tell({ kind: 'failed', message }))
  uppy.addFile({ name: file.name, type: file.type, data: file })
}

const input = document.querySelector('input')
input?.addEventListener('change', () => {
  const file = input.files?.item(0)
  if (file) clients[asked.get('client') ?? '']?.(file)
})
void tell({ kind: 'ready' })
