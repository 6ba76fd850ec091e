// Verifies proofs with the ICS-23 library that others use. Reads one JSON object a line from stdin and prints for each `ok` or
// `refused`; ends with status 1 when any line is not as it expected.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	ics23 "github.com/cosmos/ics23/go"
)

type line struct {
	Root   string  `json:"root"`
	Key    string  `json:"key"`
	Value  *string `json:"value"` // absent: the proof says that the key is absent
	Proof  string  `json:"proof"`
	Expect string  `json:"expect"`
}

func fromHex(text string) []byte {
	bytes, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return bytes
}

func verify(one line) string {
	proof := &ics23.CommitmentProof{}
	if err := proof.Unmarshal(fromHex(one.Proof)); err != nil {
		return "refused"
	}
	var ok bool
	if one.Value != nil {
		ok = ics23.VerifyMembership(ics23.SmtSpec, fromHex(one.Root), proof, fromHex(one.Key), fromHex(*one.Value))
	} else {
		ok = ics23.VerifyNonMembership(ics23.SmtSpec, fromHex(one.Root), proof, fromHex(one.Key))
	}
	if ok {
		return "ok"
	}
	return "refused"
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<24)
	status := 0
	for in.Scan() {
		var one line
		if err := json.Unmarshal(in.Bytes(), &one); err != nil {
			panic(err)
		}
		found := verify(one)
		fmt.Println(found)
		if found != one.Expect {
			status = 1
		}
	}
	os.Exit(status)
}
