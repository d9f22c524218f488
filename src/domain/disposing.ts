/** Runs `work`, then disposes of what it has put on the stack, the last first. */
export async function disposing<T>(work: (open: AsyncDisposableStack) => Promise<T>): Promise<T> {
  const open = new AsyncDisposableStack()
  try {
    return await work(open)
  } finally {
    await open.disposeAsync()
  }
}
