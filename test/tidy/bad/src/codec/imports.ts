import '../tx/sign.ts' // red: noRestrictedImports
import '../store/table.ts' // red: noRestrictedImports
import '../abci/frame.ts' // red: noRestrictedImports
import '../base/bytes.ts'
import './gen/svc.js'
