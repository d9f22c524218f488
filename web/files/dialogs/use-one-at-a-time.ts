import { useRef } from 'react'

/** Returns what runs a request unless the one before is under way: a second click on a slow line asks for nothing. */
export function useOneAtATime(): (act: () => Promise<void>) => void {
  const isUnderWay = useRef(false)
  return (act) => {
    if (isUnderWay.current) return
    isUnderWay.current = true
    void act().finally(() => {
      isUnderWay.current = false
    })
  }
}
