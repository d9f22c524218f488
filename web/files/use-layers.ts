import { useEffect, useRef } from 'react'

export function layersOf(state: unknown): number {
  const layers = typeof state === 'object' && state !== null && 'layers' in state ? state.layers : 0
  return typeof layers === 'number' ? layers : 0
}

/** Back closes the top layer instead of leaving the folder: each layer has a history entry. */
export function useLayers(count: number, closeTop: () => void): void {
  const latest = useRef({ count, closeTop })
  latest.current = { count, closeTop }
  /** `history.go` is asynchronous: until it is done, the state is the old one. */
  const isGoing = useRef(false)

  useEffect(() => {
    if (isGoing.current) return
    const noted = layersOf(history.state)
    addLayers(noted, count)
    if (noted <= count) return
    // The click that closes a layer may also open a folder, whose entry then replaces the layer's.
    const timer = setTimeout(() => {
      if (layersOf(history.state) !== noted) return
      isGoing.current = true
      history.go(count - noted)
    })
    return () => clearTimeout(timer)
  }, [count])

  useEffect(() => {
    const listening = new AbortController()
    const back = () => {
      const now = latest.current
      const noted = layersOf(history.state)
      if (isGoing.current) {
        // Layers opened meanwhile have no entry yet, and closed ones still have one.
        isGoing.current = noted > now.count
        if (isGoing.current) history.go(now.count - noted)
        else addLayers(noted, now.count)
      } else if (noted < now.count) now.closeTop()
    }
    addEventListener('popstate', back, { signal: listening.signal })
    return () => listening.abort()
  }, [])
}

function addLayers(noted: number, count: number): void {
  for (let layer = noted + 1; layer <= count; layer++) history.pushState({ layers: layer }, '')
}
