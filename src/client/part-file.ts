import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { ClientError } from './failure.ts'

/**
 * Opens what an earlier run has left, or begins it. In a folder that others may write into, a link of that name would lead
 * to a file of the user's that is then written over: throws ClientError for links and for what is no plain file.
 */
export async function openPart(path: string, flags: number): Promise<FileHandle> {
  const how = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK
  // Emptied only once it is known to be ours alone.
  const file = await open(path, how).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ELOOP' ? foreignPart(path) : error
  })
  const found = await file.stat()
  if (found.isFile() && found.nlink === 1) {
    if ((flags & constants.O_TRUNC) !== 0) await file.truncate(0)
    return file
  }
  await file.close()
  throw foreignPart(path)
}

function foreignPart(path: string): ClientError {
  return new ClientError(`${path} is a link or no plain file; remove it and run the command again.`)
}
