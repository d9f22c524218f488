import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { ClientError } from './failure.ts'

/** Throws ClientError for links and special files: a link could point at another file of the user. */
export async function openPart(path: string, flags: number): Promise<FileHandle> {
  const how = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK
  // Truncated only once it is known to be ours.
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
