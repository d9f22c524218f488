import type { FileHandle } from './file-handles.ts'
import type { Picked } from './picked.ts'

/** What TypeScript's own types leave out: the picker that gives handles, which not all browsers have. */
declare global {
  interface Window {
    readonly showOpenFilePicker?: (options: { multiple: boolean }) => Promise<readonly FileHandle[]>
  }
}

/** Whether files chosen here come with handles. A phone's own chooser, with its camera, is better than that. */
export function hasPicker(): boolean {
  return window.showOpenFilePicker !== undefined && !matchMedia('(pointer: coarse)').matches
}

/** Nothing when the person changed their mind. */
export async function pickFiles(): Promise<Picked[]> {
  try {
    const handles = (await window.showOpenFilePicker?.({ multiple: true })) ?? []
    return await Promise.all(
      handles.map(async (handle) => ({ file: await handle.getFile(), handle, path: null })),
    )
  } catch {
    return []
  }
}
