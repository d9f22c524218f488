import { type Connect, refused, sure } from './client.ts'
import { createClient, createConfig } from './generated/hey-api/client/index.ts'
import * as api from './generated/hey-api/sdk.gen.ts'

export const connect: Connect = (url, key) => {
  const client = createClient(
    createConfig({ baseUrl: url, auth: ({ scheme }) => (scheme === 'bearer' ? key : undefined) }),
  )
  return {
    async upload(name, bytes) {
      const { data, error } = await api.uploadFile({ client, body: { file: new File([bytes], name) } })
      const { slug, file_id: id } = sure(data, error)
      return { slug, id }
    },
    async list(page, perPage) {
      const { data, error } = await api.listFiles({ client, query: { page, per_page: perPage } })
      const { data: files, pagination } = sure(data, error)
      return { names: files.map(({ name }) => name), pages: pagination.pages }
    },
    async detail(file) {
      const { data, error } = await api.getFile({ client, path: { id: file } })
      const { name, size } = sure(data, error).data
      return { name, size }
    },
    async rename(file, name) {
      const { data, error } = await api.updateFile({ client, path: { id: file }, body: { name } })
      const changed = sure(data, error)
      return 'data' in changed ? changed.data.name : refused(changed)
    },
    async makeFolder(name, isPublic) {
      const { data, error } = await api.createFolder({ client, body: { name, public: isPublic ? 1 : 0 } })
      return sure(data, error).data.identifier
    },
    async folders() {
      const { data, error } = await api.listFolders({ client })
      return new Map(sure(data, error).data.map((folder) => [folder.id, folder.public]))
    },
    async move(file, folder) {
      const { data, error } = await api.moveFile({ client, body: { file, folder } })
      return sure(data, error).data.folder
    },
    async remove(files) {
      const { data, error } = await api.deleteFiles({ client, body: { identifiers: [...files] } })
      return sure(data, error).files_deleted
    },
    async missing(file) {
      const { error, response } = await api.getFile({ client, path: { id: file } })
      return {
        status: response?.status ?? 0,
        code: error?.error === 'FILE_NOT_FOUND' ? error.error : 'other',
      }
    },
    async download(file) {
      const signed = await api.getSignedAddressToDownloadFile({ client, body: { file_slug: file } })
      const { file: name, token } = sure(signed.data, signed.error)
      const { data, error } = await api.getBytesOfFile({
        client,
        path: { file: name },
        query: { token, download: 'true' },
      })
      return new Uint8Array(await sure(data, error).arrayBuffer())
    },
  }
}
