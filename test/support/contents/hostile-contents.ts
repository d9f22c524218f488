/** Contents that try to run script on the page that shows them, each detectable. */

/** A dialog, a request and a property of the window: whichever works. */
export const SCRIPT = `window.fired=1;fetch('/fired');alert('fired')`
export const MARKUP = `<script>${SCRIPT}</script><img src="//canary.invalid/i.png" onerror="${SCRIPT}"><svg onload="${SCRIPT}"><iframe src="javascript:${SCRIPT}"></iframe><base href="//canary.invalid/"><meta http-equiv="refresh" content="0;url=//canary.invalid/"><link rel="stylesheet" href="//canary.invalid/s.css"><form action="//canary.invalid/"><button autofocus onfocus="${SCRIPT}">x</button></form>`

export const SVG = `<?xml version="1.0"?><?xml-stylesheet href="//canary.invalid/s.css"?><!DOCTYPE svg [<!ENTITY x SYSTEM "//canary.invalid/e">]>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="90" height="60" onload="${SCRIPT}">
<script>${SCRIPT}</script><image xlink:href="//canary.invalid/i.png" width="9" height="9"/><foreignObject><body xmlns="http://www.w3.org/1999/xhtml" onload="${SCRIPT}"/></foreignObject>
<a href="javascript:${SCRIPT}"><rect width="90" height="60" fill="teal"/></a></svg>`

/** For the `pdf` helper. */
export const PDF_ACTIONS = `/OpenAction << /S /JavaScript /JS (${'app.alert\\(1\\);'}) >> /AA << /WC << /S /URI /URI (http://canary.invalid/) >> >> /Names << /JavaScript << /Names [(a) << /S /JavaScript /JS (app.launchURL\\("http://canary.invalid/"\\)) >>] >> >>`
