import { open } from 'node:fs/promises'

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null)
  try {
    // Windows syncs no folders.
    await handle?.sync().catch(() => {})
  } finally {
    await handle?.close()
  }
}
