import { useEffect, useRef } from 'react'

/** How many layers the present entry of the history stands for. */
export function layersOf(state: unknown): number {
  const layers = typeof state === 'object' && state !== null && 'layers' in state ? state.layers : 0
  return typeof layers === 'number' ? layers : 0
}

/**
 * Makes Back close what stands over the page instead of leaving the folder: the history has an entry for each layer.
 * `closeTop` closes the uppermost.
 */
export function useLayers(count: number, closeTop: () => void): void {
  const latest = useRef({ count, closeTop })
  latest.current = { count, closeTop }
  /** The history goes back later than it is told to: until then its state is not where it will be. */
  const isGoing = useRef(false)

  useEffect(() => {
    if (isGoing.current) return
    const noted = layersOf(history.state)
    addLayers(noted, count)
    if (noted <= count) return
    // Whoever closes a layer may go to a folder with the same click: its entry takes the layer's place.
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
        // What was opened meanwhile has no entry yet, and what was closed still has one.
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
