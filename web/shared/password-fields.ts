export function watchPasswordFields(): void {
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest('.show-password') : null
    const field = button?.closest('.mantine-TextInput-root')?.querySelector('input')
    if (button === null || !field) return
    const isShown = field.type === 'password'
    field.type = isShown ? 'text' : 'password'
    button.setAttribute('aria-pressed', String(isShown))
  })
}
