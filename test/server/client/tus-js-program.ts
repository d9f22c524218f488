/**
 * A program that sends a file by tus-js-client: `<file> <options of it as JSON>`. Writes a line of JSON for all that it
 * hears: the upload's address, how many bytes are sent, and that it is done.
 */
import { createReadStream } from 'node:fs'
import { Upload } from 'tus-js-client'

const [path = '', options = ''] = process.argv.slice(2)
const say = (event: Readonly<Record<string, unknown>>) => process.stdout.write(`${JSON.stringify(event)}\n`)

const upload = new Upload(createReadStream(path), {
  ...JSON.parse(options),
  onUploadUrlAvailable: () => say({ url: upload.url }),
  onProgress: (sent) => say({ sent }),
  onSuccess: () => say({ done: upload.url }),
  onError: ({ message }) => {
    say({ failed: message })
    process.exitCode = 1
  },
})
upload.start()
