/** @tus/server with its file store, set up as in its manual: `<folder>`. Prints its address when it listens. */
import { FileStore } from '@tus/file-store'
import { Server } from '@tus/server'

const [directory = ''] = process.argv.slice(2)
const server = new Server({ path: '/files', datastore: new FileStore({ directory }) })
const listener = server.listen({ host: '127.0.0.1', port: 0 }, () => {
  const address = listener.address()
  if (address !== null && typeof address !== 'string') console.log(`http://127.0.0.1:${address.port}`)
})
