export function saveText(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser has read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
