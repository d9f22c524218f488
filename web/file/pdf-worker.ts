/** Runs in a worker: pdf.js reads documents here. */
import 'pdfjs-dist/build/pdf.worker.mjs'
