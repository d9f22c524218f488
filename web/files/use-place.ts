import { useCallback, useEffect } from 'react'
import { type Place, TOP } from './entry.ts'
import type { Manager } from './manager.ts'
import { layersOf } from './use-layers.ts'

const PAGE = '/files'

export function usePlace(manager: Manager): (place: Place) => void {
  useEffect(() => {
    manager.start(placeNow())
    const listening = new AbortController()
    addEventListener(
      'popstate',
      () => {
        // A layer over one folder was closed.
        if (placeNow() !== manager.snapshot().query.place) manager.open(placeNow())
      },
      { signal: listening.signal },
    )
    return () => listening.abort()
  }, [manager])

  return useCallback(
    (place) => {
      const address = addressOf(place)
      if (layersOf(history.state) > 0) history.replaceState(null, '', address)
      else if (location.pathname !== address) history.pushState(null, '', address)
      manager.open(place)
    },
    [manager],
  )
}

export function addressOf(place: Place): string {
  return place === TOP ? PAGE : `${PAGE}/${place}`
}

function placeNow(): Place {
  return location.pathname.slice(PAGE.length + 1) || TOP
}
