// A stranger who serves forged blocks to a node that fetches blocks. It dials the node until that listens, takes the real blocks
// from another node's RPC, and forges each before it sends it. When its input ends it prints one JSON object: how many blocks it was
// asked for, and whether the node hung up.
//
// Without arguments it prints the list of its kinds.
//
//	go run ./forger <node id>@<host>:<port> <chain id> <rpc url> <kind>
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cosmos/gogoproto/proto"

	cmtjson "github.com/cometbft/cometbft/libs/json"
	"github.com/cometbft/cometbft/proto/tendermint/blocksync"
	"github.com/cometbft/cometbft/types"

	"svcd/test/p2p/peer"
)

const (
	channel = 0x40
	pause   = 20 * time.Millisecond
	// A node asks for blocks 3 seconds after its start, and first whoever told it of its height last.
	silence = 1500 * time.Millisecond
)

// forgeries: what becomes of a block. Where fit is called, its header says what is in it, so that only the signatures tell.
var forgeries = map[string]func(*types.Block) *types.Block{
	"another transaction":             func(b *types.Block) *types.Block { b.Data.Txs = append(b.Data.Txs, types.Tx("forged")); return b },
	"another transaction, which fits": func(b *types.Block) *types.Block { b.Data.Txs = append(b.Data.Txs, types.Tx("forged")); return fit(b) },
	"another app hash":                func(b *types.Block) *types.Block { b.AppHash[0] ^= 1; return b },
	"another time":                    func(b *types.Block) *types.Block { b.Time = b.Time.Add(time.Hour); return b },
	"another chain":                   func(b *types.Block) *types.Block { b.ChainID = "another"; return b },
	"another height":                  func(b *types.Block) *types.Block { b.Height++; return b },
	"another proposer":                func(b *types.Block) *types.Block { b.ProposerAddress[0] ^= 1; return b },
	"another signature": func(b *types.Block) *types.Block {
		for at := range b.LastCommit.Signatures {
			if signature := b.LastCommit.Signatures[at].Signature; len(signature) > 0 {
				signature[0] ^= 1
			}
		}
		return fit(b)
	},
	"no signatures": func(b *types.Block) *types.Block {
		for at := range b.LastCommit.Signatures {
			b.LastCommit.Signatures[at] = types.NewCommitSigAbsent()
		}
		return fit(b)
	},
	"no block":           func(*types.Block) *types.Block { return nil },
	"no block, and 2^63": func(*types.Block) *types.Block { return nil },
	// A node may not drop who serves this.
	"nothing forged": func(b *types.Block) *types.Block { return b },
}

// fit makes the header say what is in the block.
func fit(b *types.Block) *types.Block {
	forged := types.MakeBlock(b.Height, b.Data.Txs, &types.Commit{
		Height: b.LastCommit.Height, Round: b.LastCommit.Round, BlockID: b.LastCommit.BlockID, Signatures: b.LastCommit.Signatures,
	}, b.Evidence.Evidence)
	b.DataHash, b.LastCommitHash = forged.DataHash, forged.LastCommitHash
	return &types.Block{Header: b.Header, Data: types.Data{Txs: b.Data.Txs}, Evidence: b.Evidence, LastCommit: forged.LastCommit}
}

type forger struct {
	rpc, kind    string
	served, lost atomic.Int64
	isTelling    atomic.Bool
}

func (f *forger) send(p *peer.Peer, message proto.Message) {
	wrapped := &blocksync.Message{}
	switch message := message.(type) {
	case *blocksync.BlockResponse:
		wrapped.Sum = &blocksync.Message_BlockResponse{BlockResponse: message}
	case *blocksync.NoBlockResponse:
		wrapped.Sum = &blocksync.Message_NoBlockResponse{NoBlockResponse: message}
	case *blocksync.StatusResponse:
		wrapped.Sum = &blocksync.Message_StatusResponse{StatusResponse: message}
	}
	if bytes, err := proto.Marshal(wrapped); err == nil {
		p.Send(channel, bytes)
	}
}

// fetch asks the other node for the block of a height, or the last one for 0. nil where there is none.
func (f *forger) fetch(height int64) *types.Block {
	url := f.rpc + "/block"
	if height > 0 {
		url += fmt.Sprintf("?height=%d", height)
	}
	response, err := http.Get(url)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	var answer struct {
		Result struct {
			Block *types.Block `json:"block"`
		} `json:"result"`
	}
	if cmtjson.Unmarshal(body, &answer) != nil {
		return nil
	}
	return answer.Result.Block
}

func (f *forger) tellHeight(p *peer.Peer) {
	height := int64(math.MaxInt64)
	if last := f.fetch(0); last != nil && f.kind != "no block, and 2^63" {
		height = last.Height
	}
	f.send(p, &blocksync.StatusResponse{Base: 1, Height: height})
}

// block is the forged block of a height; nil where there is none.
func (f *forger) block(height int64) *blocksync.BlockResponse {
	real := f.fetch(height)
	if real == nil {
		return nil
	}
	forged := forgeries[f.kind](real)
	if forged == nil {
		return nil
	}
	message, err := forged.ToProto()
	if err != nil {
		return nil
	}
	return &blocksync.BlockResponse{Block: message}
}

func (f *forger) receive(p *peer.Peer, _ byte, bytes []byte) {
	message := &blocksync.Message{}
	if proto.Unmarshal(bytes, message) != nil {
		return
	}
	if message.GetStatusRequest() != nil && f.isTelling.Load() {
		f.tellHeight(p)
	} else if request := message.GetBlockRequest(); request != nil {
		f.served.Add(1)
		if block := f.block(request.Height); block != nil {
			f.send(p, block)
		} else {
			f.send(p, &blocksync.NoBlockResponse{Height: request.Height})
		}
	}
}

// serve dials until the node is there, and serves it until it hangs up.
func (f *forger) serve(address, network string) {
	for {
		p, err := peer.Dial(address, network, []byte{channel}, f.receive)
		if err != nil {
			time.Sleep(pause)
			continue
		}
		time.Sleep(silence)
		f.isTelling.Store(true)
		f.tellHeight(p)
		<-p.Lost
		f.lost.Add(1)
		return
	}
}

func main() {
	if len(os.Args) == 1 {
		var kinds []string
		for kind := range forgeries {
			kinds = append(kinds, kind)
		}
		slices.Sort(kinds)
		json.NewEncoder(os.Stdout).Encode(kinds)
		return
	}
	if len(os.Args) != 5 || forgeries[os.Args[4]] == nil {
		fmt.Fprintf(os.Stderr, "usage: %s <node id>@<host>:<port> <chain id> <rpc url> <kind>\n", os.Args[0])
		os.Exit(2)
	}
	f := &forger{rpc: os.Args[3], kind: os.Args[4]}
	go f.serve(os.Args[1], os.Args[2])
	io.Copy(io.Discard, os.Stdin)
	json.NewEncoder(os.Stdout).Encode(map[string]int64{"served": f.served.Load(), "lost": f.lost.Load()})
}
