// Prints golden ABCI messages made by CometBFT's own Go types: one JSON object a line, for every kind that this version knows.
// Usage: go run . > ../abci/v0.38.jsonl; with -modfile=v037.mod or -modfile=v040.mod for the other versions.
//
// A line is {"side", "kind", "hex", "value"}: the frame's body and the same message in the plain form of src/abci/types.ts,
// bytes as {"hex": "..."} (or {"fill": byte, "length": n} for long ones), times and durations as {"seconds", "nanos"}.
// Everything is derived from the Go structs by reflection, so that no member can be forgotten here.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"regexp"
	"strings"
	"time"

	abci "github.com/cometbft/cometbft/abci/types"
	cryptoproto "github.com/cometbft/cometbft/proto/tendermint/crypto"
	"github.com/cosmos/gogoproto/proto"
)

const maxSafe = 1<<53 - 1

// The one member of a response that only CometBFT writes (0.37, CheckTx).
const ours = "MempoolError"

// How a message is filled. empty: nothing set; largest and smallest: boundary values, one item a list, long bytes; mixed: by a counter.
type mode int

const (
	empty mode = iota
	smallest
	largest
	mixed
	mixedAgain
	modes
)

type filler struct {
	mode  mode
	count int
}

var (
	timeType     = reflect.TypeOf(time.Time{})
	durationType = reflect.TypeOf(time.Duration(0))
	commitType   = reflect.TypeOf(abci.ResponseCommit{})
	keyType      = reflect.TypeOf(cryptoproto.PublicKey{})
	snake        = regexp.MustCompile(`_[a-z]`)
	name         = regexp.MustCompile(`name=([a-z0-9_]+)`)
)

func (f *filler) next() int {
	f.count++
	return f.count
}

func (f *filler) integer(low, high int64) int64 {
	switch f.mode {
	case smallest:
		return low
	case largest:
		return high
	}
	n := f.next()
	return []int64{int64(n), 0, int64(n) * 127, 128, int64(n) * 65537, 1 << 28}[n%6] % high
}

func (f *filler) bytes() []byte {
	switch f.mode {
	case smallest:
		return []byte{0}
	case largest:
		return []byte(strings.Repeat("\xff", 300))
	}
	n := f.next()
	out := make([]byte, []int{0, 1, 20, 32}[n%4])
	for i := range out {
		out[i] = byte(n*31 + i*7)
	}
	return out
}

func (f *filler) text() string {
	switch f.mode {
	case smallest:
		return "\x00"
	case largest:
		return strings.Repeat("é漢😀", 15)
	}
	n := f.next()
	return []string{"", "a", "key/é", "漢字 😀", strings.Repeat("x", 130)}[n%5]
}

func (f *filler) time() time.Time {
	switch f.mode {
	case smallest:
		return time.Time{}
	case largest:
		return time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)
	}
	n := f.next()
	return []time.Time{time.Unix(0, 0), time.Unix(-1, 999999999), time.Unix(1700000000, int64(n)), time.Unix(-62135596799, 1)}[n%4].UTC()
}

func (f *filler) fill(v reflect.Value) {
	if f.mode == empty {
		return
	}
	switch {
	case v.Type() == timeType:
		v.Set(reflect.ValueOf(f.time()))
	case v.Type() == durationType:
		v.SetInt(map[mode]int64{smallest: -1, largest: math.MaxInt64}[f.mode])
		if f.mode >= mixed {
			v.SetInt([]int64{172800000000000, -1500000000, 999999999}[f.next()%3])
		}
	case v.Type() == keyType:
		// The second member of the oneof needs its wrapper; its other members differ from version to version.
		if f.next()%2 == 0 {
			v.FieldByName("Sum").Set(reflect.ValueOf(&cryptoproto.PublicKey_Ed25519{Ed25519: f.bytes()}))
		} else {
			v.FieldByName("Sum").Set(reflect.ValueOf(&cryptoproto.PublicKey_Secp256K1{Secp256K1: f.bytes()}))
		}
	case v.Kind() == reflect.Ptr:
		if f.mode >= mixed && f.next()%3 == 0 {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case v.Kind() == reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			if v.Type().Field(i).Name != ours {
				f.fill(v.Field(i))
			}
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		v.SetBytes(f.bytes())
	case v.Kind() == reflect.Slice:
		length := 1
		if f.mode >= mixed {
			length = f.next() % 3
		}
		v.Set(reflect.MakeSlice(v.Type(), length, length))
		for i := 0; i < length; i++ {
			if item := v.Index(i); item.Kind() == reflect.Ptr {
				item.Set(reflect.New(item.Type().Elem()))
				f.fill(item.Elem())
			} else {
				f.fill(item)
			}
		}
	case v.Kind() == reflect.Int64:
		v.SetInt(f.integer(-maxSafe, maxSafe))
	case v.Kind() == reflect.Int32 && strings.Contains(v.Type().String(), "."):
		v.SetInt(f.integer(0, 2))
	case v.Kind() == reflect.Int32:
		v.SetInt(f.integer(math.MinInt32, math.MaxInt32))
	case v.Kind() == reflect.Uint64:
		v.SetUint(uint64(f.integer(0, maxSafe)))
	case v.Kind() == reflect.Uint32:
		v.SetUint(uint64(f.integer(0, math.MaxUint32)))
	case v.Kind() == reflect.Bool:
		v.SetBool(f.integer(0, 3)%2 == 1)
	case v.Kind() == reflect.String:
		v.SetString(f.text())
	default:
		panic("cannot fill " + v.Type().String())
	}
}

func camel(s string) string {
	return snake.ReplaceAllStringFunc(s, func(m string) string { return strings.ToUpper(m[1:]) })
}

func seconds(s, n int64) any { return map[string]any{"seconds": s, "nanos": n} }

// The plain form of a message; nil where a message is absent.
func plain(v reflect.Value) any {
	switch {
	case v.Type() == timeType:
		t := v.Interface().(time.Time)
		return seconds(t.Unix(), int64(t.Nanosecond()))
	case v.Type() == durationType:
		return seconds(v.Int()/1e9, v.Int()%1e9)
	case v.Kind() == reflect.Ptr || v.Kind() == reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return plain(v.Elem())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		if b := v.Bytes(); len(b) > 64 {
			return map[string]any{"fill": b[0], "length": len(b)}
		}
		return map[string]any{"hex": hex.EncodeToString(v.Bytes())}
	case v.Kind() == reflect.Slice:
		out := []any{}
		for i := 0; i < v.Len(); i++ {
			out = append(out, plain(v.Index(i)))
		}
		return out
	case v.Kind() == reflect.Struct:
		out := map[string]any{}
		for i := 0; i < v.NumField(); i++ {
			field := v.Type().Field(i)
			if _, oneof := field.Tag.Lookup("protobuf_oneof"); oneof {
				if !v.Field(i).IsNil() {
					for key, value := range plain(v.Field(i)).(map[string]any) {
						out[key] = value
					}
				}
				continue
			}
			if field.Name == ours {
				continue
			}
			member := camel(name.FindStringSubmatch(field.Tag.Get("protobuf"))[1])
			if v.Type() == commitType && member == "data" {
				member = "appHash" // what 0.37 calls data
			}
			if value := plain(v.Field(i)); value != nil {
				out[member] = value
			}
		}
		return out
	}
	return v.Interface()
}

func emit(side string, wrapper reflect.Type, envelope func(reflect.Value) proto.Message) {
	seen := map[string]bool{}
	for m := empty; m < modes; m++ {
		value := reflect.New(wrapper.Elem())
		inner := value.Elem().Field(0)
		inner.Set(reflect.New(inner.Type().Elem()))
		f := &filler{mode: m, count: int(m) * 5}
		f.fill(inner.Elem())
		bytes, err := proto.Marshal(envelope(value))
		if err != nil {
			panic(err)
		}
		if seen[string(bytes)] {
			continue
		}
		seen[string(bytes)] = true
		kind := camel(name.FindStringSubmatch(wrapper.Elem().Field(0).Tag.Get("protobuf"))[1])
		line, err := json.Marshal(map[string]any{"side": side, "kind": kind, "hex": hex.EncodeToString(bytes), "value": plain(inner)})
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stdout, string(line))
	}
}

func main() {
	for _, wrapper := range (*abci.Request)(nil).XXX_OneofWrappers() {
		emit("request", reflect.TypeOf(wrapper), func(v reflect.Value) proto.Message {
			request := &abci.Request{}
			reflect.ValueOf(request).Elem().FieldByName("Value").Set(v)
			return request
		})
	}
	for _, wrapper := range (*abci.Response)(nil).XXX_OneofWrappers() {
		emit("response", reflect.TypeOf(wrapper), func(v reflect.Value) proto.Message {
			response := &abci.Response{}
			reflect.ValueOf(response).Elem().FieldByName("Value").Set(v)
			return response
		})
	}
}
