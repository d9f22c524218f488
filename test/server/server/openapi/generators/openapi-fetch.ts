import createClient from 'openapi-fetch'
import { type Connect, refused, sure } from './client.ts'
import type { paths } from './generated/openapi-typescript/schema.ts'

export const connect: Connect = (url, key) => {
  const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } })
  return {
    async upload(name, bytes) {
      const form = new FormData()
      form.append('file', new Blob([bytes]), name)
      // Fields of bytes are typed as strings; the library's own advice is to build the form.
      const { data, error } = await client.POST('/api/v1/upload', {
        body: { file: '' },
        bodySerializer: () => form,
      })
      const { slug, file_id: id } = sure(data, error)
      return { slug, id }
    },
    async list(page, perPage) {
      const query = { page, per_page: perPage }
      const { data, error } = await client.GET('/api/v1/files', { params: { query } })
      const { data: files, pagination } = sure(data, error)
      return { names: files.map(({ name }) => name), pages: pagination.pages }
    },
    async detail(file) {
      const { data, error } = await client.GET('/api/v1/file/{id}', { params: { path: { id: file } } })
      const { name, size } = sure(data, error).data
      return { name, size }
    },
    async rename(file, name) {
      const params = { path: { id: file } }
      const { data, error } = await client.PATCH('/api/v1/file/{id}', { params, body: { name } })
      const changed = sure(data, error)
      return 'data' in changed ? changed.data.name : refused(changed)
    },
    async makeFolder(name, isPublic) {
      const { data, error } = await client.POST('/api/v1/folder', {
        body: { name, public: isPublic ? 1 : 0 },
      })
      return sure(data, error).data.identifier
    },
    async folders() {
      const { data, error } = await client.GET('/api/v1/folders')
      return new Map(sure(data, error).data.map((folder) => [folder.id, folder.public]))
    },
    async move(file, folder) {
      const { data, error } = await client.POST('/api/v1/file/move', { body: { file, folder } })
      return sure(data, error).data.folder
    },
    async remove(files) {
      const { data, error } = await client.POST('/file/delete', { body: { identifiers: [...files] } })
      return sure(data, error).files_deleted
    },
    async missing(file) {
      const { error, response } = await client.GET('/api/v1/file/{id}', { params: { path: { id: file } } })
      const code = error?.error === 'FILE_NOT_FOUND' ? error.error : 'other'
      return { status: response.status, code }
    },
    async download(file) {
      const signed = await client.POST('/v2/api/public/download', { body: { file_slug: file } })
      const { file: name, token } = sure(signed.data, signed.error)
      const params = { path: { file: name }, query: { token, download: 'true' as const } }
      const { data, error } = await client.GET('/v2/{file}', { params, parseAs: 'arrayBuffer' })
      return new Uint8Array(sure(data, error))
    },
  }
}
