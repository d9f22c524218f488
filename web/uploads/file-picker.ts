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

/** What a person has chosen, and the names of what cannot be read. */
export interface PickedFiles {
  readonly files: readonly Picked[]
  readonly unreadable: readonly string[]
}

/** Nothing when the person changed their mind. */
export async function pickFiles(): Promise<PickedFiles> {
  const files: Picked[] = []
  const unreadable: string[] = []
  for (const handle of (await window.showOpenFilePicker?.({ multiple: true }).catch(() => [])) ?? []) {
    const file = await handle.getFile().catch(() => null)
    if (file === null) unreadable.push(handle.name)
    else files.push({ file, handle, path: null })
  }
  return { files, unreadable }
}
