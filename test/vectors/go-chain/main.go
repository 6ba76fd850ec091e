// Reads chain.json and makes its bytes again from the .proto files and the documents alone: messages, transactions, row keys and
// values, and the root of a whole state. It shares no code with the project. Usage: reader chain.json proto/svc
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

type field struct {
	name, kind string
	number     int
	optional   bool
}

var messages = map[string][]field{}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

func camel(name string) string {
	parts := strings.Split(name, "_")
	for at := 1; at < len(parts); at++ {
		parts[at] = strings.ToUpper(parts[at][:1]) + parts[at][1:]
	}
	return strings.Join(parts, "")
}

var (
	packageLine = regexp.MustCompile(`^package ([\w.]+);`)
	messageLine = regexp.MustCompile(`^message (\w+) \{(\})?`)
	fieldLine   = regexp.MustCompile(`^\s+(optional )?([\w.]+) (\w+) = (\d+);`)
)

func readProtos(folder string) {
	files, err := filepath.Glob(filepath.Join(folder, "*.proto"))
	if err != nil || len(files) == 0 {
		fail("no .proto files in %s", folder)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			fail("%v", err)
		}
		pkg, message := "", ""
		for _, line := range strings.Split(string(text), "\n") {
			if found := packageLine.FindStringSubmatch(line); found != nil {
				pkg = found[1]
			} else if found := messageLine.FindStringSubmatch(line); found != nil {
				message = pkg + "." + found[1]
				messages[message] = nil
			} else if found := fieldLine.FindStringSubmatch(line); found != nil {
				number, _ := strconv.Atoi(found[4])
				messages[message] = append(messages[message], field{camel(found[3]), found[2], number, found[1] != ""})
			}
		}
	}
}

func varint(value uint64) []byte { return binary.AppendUvarint(nil, value) }

func tagged(number, wire int, payload []byte) []byte {
	out := varint(uint64(number<<3 | wire))
	if wire == 2 {
		out = append(out, varint(uint64(len(payload)))...)
	}
	return append(out, payload...)
}

func unhex(text any) []byte {
	raw, err := hex.DecodeString(text.(string))
	if err != nil {
		fail("%v", err)
	}
	return raw
}

// proto3: a member in the order of its number; a default value is left out unless the member is optional and present.
func encode(name string, value map[string]any) []byte {
	fields, known := messages[name]
	if !known {
		fail("no message %s", name)
	}
	fields = append([]field(nil), fields...)
	sort.Slice(fields, func(a, b int) bool { return fields[a].number < fields[b].number })
	var out []byte
	for _, one := range fields {
		given, present := value[one.name]
		if !present {
			continue
		}
		switch one.kind {
		case "uint64", "int64":
			number, err := strconv.ParseUint(given.(json.Number).String(), 10, 64)
			if err != nil {
				fail("%s.%s: %v", name, one.name, err)
			}
			if number != 0 || one.optional {
				out = append(out, tagged(one.number, 0, varint(number))...)
			}
		case "bool":
			if given.(bool) {
				out = append(out, tagged(one.number, 0, varint(1))...)
			}
		case "string", "bytes":
			payload := []byte(given.(string))
			if one.kind == "bytes" {
				payload = unhex(given)
			}
			if len(payload) > 0 || one.optional {
				out = append(out, tagged(one.number, 2, payload)...)
			}
		default:
			inner := one.kind
			if !strings.Contains(inner, ".") {
				inner = name[:strings.LastIndex(name, ".")+1] + inner
			}
			out = append(out, tagged(one.number, 2, encode(inner, given.(map[string]any)))...)
		}
	}
	return out
}

type leaf struct{ path, hash [32]byte }

// The root of the leaves that share their first `bit` bits: none, one alone stands for the whole, else the two halves.
func root(leaves []leaf, bit int) ([32]byte, bool) {
	if len(leaves) == 0 {
		return [32]byte{}, false
	}
	if len(leaves) == 1 {
		return leaves[0].hash, true
	}
	var halves [2][]leaf
	for _, one := range leaves {
		side := one.path[bit/8] >> (7 - bit%8) & 1
		halves[side] = append(halves[side], one)
	}
	left, _ := root(halves[0], bit+1)
	right, _ := root(halves[1], bit+1)
	return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...)), true
}

func rootOf(rows [][2]string) string {
	leaves := make([]leaf, 0, len(rows))
	for _, row := range rows {
		path := sha256.Sum256(unhex(row[0]))
		value := sha256.Sum256(unhex(row[1]))
		leaves = append(leaves, leaf{path, sha256.Sum256(append(append([]byte{0}, path[:]...), value[:]...))})
	}
	hash, _ := root(leaves, 0)
	return hex.EncodeToString(hash[:])
}

type vectors struct {
	ChainID  string `json:"chainId"`
	Seed     string
	Address  string
	Messages []struct {
		Operation, MessageName, MessageBytes, SignBytes, Tx, Hash string
		Message                                                   map[string]any
		Nonce                                                     json.Number
	}
	Rows []struct {
		Table, Message, Key, Value string
		Tag                        byte
		KeyParts                   [][2]any
		Wire                       map[string]any
	}
	Script struct{ Blocks []struct{ AppHash string } }
	State  [][2]string
}

func same(what, expected string, made []byte) {
	if got := hex.EncodeToString(made); got != expected {
		fail("%s: the file has\n%s\nmade\n%s", what, expected, got)
	}
}

func checkMessages(all vectors) {
	private := ed25519.NewKeyFromSeed(unhex(all.Seed))
	public := private.Public().(ed25519.PublicKey)
	digest := sha256.Sum256(public)
	from := hex.EncodeToString(digest[:20])
	if all.Address != "0x"+from {
		fail("address: %s, made 0x%s", all.Address, from)
	}
	for _, one := range all.Messages {
		same(one.Operation+" message", one.MessageBytes, encode(one.MessageName, one.Message))
		body := encode("svc.tx.TxBody", map[string]any{"chainId": all.ChainID, "from": from, "nonce": one.Nonce, one.Operation: one.Message})
		signed := append([]byte("svc/tx/v1\n"), body...)
		same(one.Operation+" sign bytes", one.SignBytes, signed)
		tx := encode("svc.tx.Tx", map[string]any{
			"body": hex.EncodeToString(body), "publicKey": hex.EncodeToString(public), "signature": hex.EncodeToString(ed25519.Sign(private, signed)),
		})
		same(one.Operation+" tx", one.Tx, tx)
		hash := sha256.Sum256(tx)
		same(one.Operation+" hash", strings.ToLower(one.Hash), hash[:])
	}
}

func checkRows(all vectors) {
	for _, row := range all.Rows {
		key := []byte{row.Tag}
		for _, part := range row.KeyParts {
			switch part[0] {
			case "u64":
				number, _ := strconv.ParseUint(part[1].(json.Number).String(), 10, 64)
				key = binary.BigEndian.AppendUint64(key, number)
			case "bytes":
				key = append(key, unhex(part[1])...)
			default:
				key = append(append(key, part[1].(string)...), 0)
			}
		}
		same(row.Table+" key", row.Key, key)
		same(row.Table+" value", row.Value, encode("svc.state."+row.Message, row.Wire))
	}
}

func main() {
	if len(os.Args) != 3 {
		fail("usage: reader chain.json proto/svc")
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail("%v", err)
	}
	readProtos(os.Args[2])
	var all vectors
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&all); err != nil {
		fail("%v", err)
	}
	checkMessages(all)
	checkRows(all)
	if made := rootOf(all.State); made != all.Script.Blocks[len(all.Script.Blocks)-1].AppHash {
		fail("root of the state: made %s", made)
	}
	fmt.Printf("%d vectors and a state of %d rows agree\n", len(all.Messages)+len(all.Rows), len(all.State))
}
