import { fillingOf, PAUSE, type StrengthTexts, strengthOf } from '../shared/strength.ts'

/** Tells how good the new password of the form is, while it is typed. It never leaves the browser for that. */
export function watchPassword(meter: HTMLElement, texts: StrengthTexts): void {
  const form = meter.closest('form')
  const said = meter.querySelector('p')
  let timer: ReturnType<typeof setTimeout> | undefined

  async function judge(): Promise<void> {
    const password = fieldValue('password')
    const strength = await strengthOf(password, [fieldValue('username')])
    // Somebody may have gone on typing.
    if (password !== fieldValue('password')) return
    meter.dataset.filling = String(strength === null ? 0 : fillingOf[strength])
    if (said !== null) said.textContent = strength === null ? '' : texts[strength]
  }

  function fieldValue(name: string): string {
    const field = form?.elements.namedItem(name)
    return field instanceof HTMLInputElement ? field.value : ''
  }

  meter.hidden = false
  // What was typed, or filled in by the browser, before this was here.
  void judge()
  form?.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => void judge(), PAUSE)
  })
}
