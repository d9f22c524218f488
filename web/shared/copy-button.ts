import { toClipboard } from './clipboard.ts'

/** Milliseconds. */
const SAID_FOR = 2000

/** A button copies its `data-copy` and confirms with the texts in its other attributes. */
export function enableCopy(page: ParentNode): void {
  for (const button of page.querySelectorAll<HTMLButtonElement>('button[data-copy]')) enable(button)
}

function enable(button: HTMLButtonElement): void {
  const label = button.querySelector('span')
  const failed = button.nextElementSibling
  if (label === null || failed === null) return
  const { copy = '', copied = '', failed: failure = '' } = button.dataset
  const own = label.textContent
  let timer: ReturnType<typeof setTimeout> | undefined
  button.addEventListener('click', async () => {
    const isCopied = await toClipboard(copy)
    label.textContent = isCopied ? copied : own
    failed.textContent = isCopied ? '' : failure
    button.toggleAttribute('data-done', isCopied)
    clearTimeout(timer)
    timer = setTimeout(() => {
      label.textContent = own
      button.removeAttribute('data-done')
    }, SAID_FOR)
  })
}
