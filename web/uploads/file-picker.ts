import type { FileHandle } from './file-handles.ts'
import type { Picked } from './picked.ts'

/** Missing in TypeScript's types: a picker that gives handles, which not all browsers have. */
declare global {
  interface Window {
    readonly showOpenFilePicker?: (options: { multiple: boolean }) => Promise<readonly FileHandle[]>
  }
}

/** Not on phones, whose own chooser, with its camera, is better. */
export function hasPicker(): boolean {
  return window.showOpenFilePicker !== undefined && !matchMedia('(pointer: coarse)').matches
}

export interface PickedFiles {
  readonly files: readonly Picked[]
  readonly unreadable: readonly string[]
}

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
