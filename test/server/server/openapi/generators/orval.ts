import { type Connect, refused } from './client.ts'
import * as api from './generated/orval/client.ts'
import { useServer } from './orval-fetch.ts'

export const connect: Connect = (url, key) => {
  useServer(url, key)
  return {
    async upload(name, bytes) {
      const answer = await api.uploadFile({ file: new File([bytes], name) })
      const { slug, file_id: id } = answer.status === 200 ? answer.data : refused(answer.data)
      return { slug, id }
    },
    async list(page, perPage) {
      const answer = await api.listFiles({ page, per_page: perPage })
      const { data, pagination } = answer.status === 200 ? answer.data : refused(answer.data)
      return { names: data.map(({ name }) => name), pages: pagination.pages }
    },
    async detail(file) {
      const answer = await api.getFile(file)
      const { name, size } = answer.status === 200 ? answer.data.data : refused(answer.data)
      return { name, size }
    },
    async rename(file, name) {
      const answer = await api.updateFile(file, { name })
      return answer.status === 200 && 'data' in answer.data ? answer.data.data.name : refused(answer.data)
    },
    async makeFolder(name, isPublic) {
      const answer = await api.createFolder({ name, public: isPublic ? 1 : 0 })
      return answer.status === 201 ? answer.data.data.identifier : refused(answer.data)
    },
    async folders() {
      const answer = await api.listFolders()
      const { data } = answer.status === 200 ? answer.data : refused(answer.data)
      return new Map(data.map((folder) => [folder.id, folder.public]))
    },
    async move(file, folder) {
      const answer = await api.moveFile({ file, folder })
      return answer.status === 200 ? answer.data.data.folder : refused(answer.data)
    },
    async remove(files) {
      const answer = await api.deleteFiles({ identifiers: [...files] })
      return answer.status === 200 ? answer.data.files_deleted : refused(answer.data)
    },
    async missing(file) {
      const { status, data } = await api.getFile(file)
      return { status, code: status === 404 && data.error === 'FILE_NOT_FOUND' ? data.error : 'other' }
    },
    async download(file) {
      const signed = await api.getSignedAddressToDownloadFile({ file_slug: file })
      const { file: name, token } = signed.status === 200 ? signed.data : refused(signed.data)
      const answer = await api.getBytesOfFile(name, { token, download: 'true' })
      const blob = answer.status === 200 ? answer.data : refused(answer.data)
      return new Uint8Array(await blob.arrayBuffer())
    },
  }
}
