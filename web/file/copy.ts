import type { FileScriptTexts } from './data.ts'

/** Milliseconds for which a button says that it worked. */
const SAID_FOR = 2000

/** Makes the button put the address into the clipboard. */
export function enableCopy(url: string, texts: FileScriptTexts): void {
  const button = document.querySelector<HTMLButtonElement>('#copy-link')
  const field = document.querySelector<HTMLInputElement>('#link')
  const said = document.querySelector<HTMLElement>('#copy-said')
  if (button === null || field === null || said === null) return
  field.addEventListener('focus', () => field.select())
  let timer: ReturnType<typeof setTimeout> | undefined
  button.addEventListener('click', async () => {
    const isCopied = (await written(url)) || selectedCopy(field)
    said.textContent = isCopied ? texts.copied : texts.copyFailed
    button.dataset.outcome = isCopied ? 'copied' : 'failed'
    clearTimeout(timer)
    timer = setTimeout(() => {
      said.textContent = ''
      delete button.dataset.outcome
    }, SAID_FOR)
  })
}

async function written(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Not there without HTTPS, or not allowed.
    return false
  }
}

function selectedCopy(field: HTMLInputElement): boolean {
  field.focus()
  field.select()
  return document.execCommand('copy')
}
