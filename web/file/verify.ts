import { fill, type Words } from '../shared/words.ts'
import type { FilePageData } from './data.ts'
import type { HashTold } from './hash-worker.ts'

/** Compares a file that the person chooses with this one, by its hash. It is read here and sent nowhere. */
export function enableVerify(page: FilePageData, words: Words): void {
  const input = document.querySelector<HTMLInputElement>('#verify-file')
  const result = document.querySelector<HTMLElement>('#verify-result')
  const progress = document.querySelector<HTMLProgressElement>('#verify-progress')
  if (input === null || result === null || progress === null) return
  const view = { result, progress, words }
  let stop = () => {}
  input.addEventListener('change', () => {
    stop()
    const [file] = input.files ?? []
    if (file === undefined) return
    stop = verify(file, page, view)
    // So that the same file may be chosen again after it was changed.
    input.value = ''
  })
}

interface View {
  readonly result: HTMLElement
  readonly progress: HTMLProgressElement
  readonly words: Words
}

/** Returns what ends it. */
function verify(file: File, page: FilePageData, view: View): () => void {
  const { texts } = page
  if (file.size !== page.size) {
    const sizes = { chosen: view.words.size(file.size), size: view.words.size(page.size) }
    tell(view, 'mismatch', fill(texts.otherSize, sizes))
    return () => {}
  }
  const worker = new Worker(page.parts.hashWorker, { type: 'module' })
  tell(view, 'working', texts.hashing)
  const end = (outcome: 'match' | 'mismatch' | 'failed', text: string) => {
    worker.terminate()
    tell(view, outcome, text)
  }
  worker.addEventListener('message', ({ data }: MessageEvent<HashTold>) => {
    switch (data.kind) {
      case 'hashed':
        view.progress.value = data.bytes / Math.max(1, file.size)
        break
      case 'done':
        if (data.sha256 === page.sha256) end('match', texts.match)
        else end('mismatch', texts.mismatch)
        break
      case 'failed':
        end('failed', texts.unreadable)
        break
    }
  })
  worker.addEventListener('error', () => end('failed', texts.unreadable))
  worker.postMessage(file)
  return () => worker.terminate()
}

function tell(view: View, outcome: 'working' | 'match' | 'mismatch' | 'failed', text: string): void {
  view.progress.hidden = outcome !== 'working'
  view.progress.value = 0
  view.result.dataset.outcome = outcome
  view.result.textContent = text
}
