import { useRef } from 'react'

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
